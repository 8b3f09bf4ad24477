import { conversationForm } from '../../ir/format-facts.ts';
import type { CallableTool, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { NO_FIELD, NOT_TAKEN } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { nameOfAllowed } from '../shared/tools/allowed-tools.ts';
import { reportLostChoice, reportToolLosses } from '../shared/tools/tool-losses.ts';
import { freeTextParameters, identityOf, nameOfChosen } from '../shared/tools/tool-names.ts';
import { isOwnTool } from './hosted-tools.ts';
import type { RenderContext } from './render-context.ts';
import { reportForeignMembers, takes } from './render-losses.ts';

export function renderTools(context: RenderContext): JsonObject {
  const { request, target, report } = context;
  if (!takes('tools', target)) {
    if (request.tools.length > 0) report.dropped(report.name('tools'), NOT_TAKEN);
    reportLostChoice(request.toolChoice, NONE_LEFT, report);
    return {};
  }
  const own = request.tools.filter(isOwnTool).map(({ value }) => value);
  const callable = request.tools.filter((tool) => isCallable(tool, report));
  if (callable.length === 0) {
    reportLostChoice(request.toolChoice, NONE_LEFT, report);
    return own.length === 0 ? {} : { tools: own };
  }
  if (request.parallelToolCalls === false) {
    report.dropped(report.name('parallelToolCalls'), 'the upstream decides how many calls it makes at once');
  }
  const config = renderToolChoice(callable, context);
  const isStrict = config?.mode === 'ANY' || config?.mode === 'VALIDATED';
  const functionDeclarations = callable.flatMap((tool) => {
    reportToolLosses(tool, context, isStrict ? undefined : NO_FIELD);
    reportForeignMembers(tool, 'tools', report);
    return [renderTool(tool, context)];
  });
  return {
    tools: [{ functionDeclarations }, ...own],
    ...(config !== undefined && { toolConfig: { functionCallingConfig: config } }),
  };
}

function isCallable(tool: Tool, report: Report): tool is CallableTool {
  if (tool.type !== 'hosted') return true;
  const { dialect, kind } = tool;
  if (dialect !== 'gemini') report.dropped(report.place(tool, 'tools'), `the upstream does not run ${kind}`);
  return false;
}

// --- One tool -------------------------------------------------------------------------------------------------------

/**
 * Sends the schema as `parametersJsonSchema`, which takes JSON Schema as callers write it. The older `parameters`
 * takes a small part of it in another notation, and refuses the rest.
 */
function renderTool(tool: CallableTool, { names }: RenderContext): JsonObject {
  const schema = tool.type === 'custom' ? freeTextParameters(tool) : tool.parameters;
  return {
    name: names.nameOf(identityOf(tool)),
    ...(tool.description !== undefined && { description: tool.description }),
    ...(schema !== undefined && { parametersJsonSchema: { type: 'object', ...schema } }),
  };
}

// --- The choice among them ------------------------------------------------------------------------------------------

/** Report detail of a tool choice without tools. */
const NONE_LEFT = 'no tool is left to choose';

function renderToolChoice(callable: readonly CallableTool[], context: RenderContext): JsonObject | undefined {
  const { request, target, report } = context;
  const choice = request.toolChoice;
  if (choice !== undefined && !takes('toolChoice', target)) {
    if (choice.mode !== 'auto') report.dropped(report.name('toolChoice'), NOT_TAKEN);
    return undefined;
  }
  switch (choice?.mode) {
    case undefined:
    case 'auto':
      return freeChoice(callable);
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [nameOfChosen(choice, context.request, context.names)] };
    case 'allowed':
      return allowedChoice(choice, callable, context);
    case 'hosted':
      report.dropped(report.name('toolChoice'), 'names a tool that the upstream does not run');
      return freeChoice(callable);
  }
}

/** `VALIDATED` leaves the choice to the model and enforces the schemas of the tools. */
function freeChoice(callable: readonly CallableTool[]): JsonObject | undefined {
  const areStrict = callable.every((tool) => tool.type === 'function' && tool.strict === true);
  return areStrict ? { mode: 'VALIDATED' } : undefined;
}

function allowedChoice(
  choice: Extract<ToolChoice, { mode: 'allowed' }>,
  callable: readonly CallableTool[],
  context: RenderContext,
): JsonObject | undefined {
  const { report, request } = context;
  const list = conversationForm(request.formatFacts).allowedToolsPath;
  // Of tools with one name the first counts.
  const byName = new Map(callable.toReversed().map((tool) => [tool.name, tool]));
  const allowed = choice.tools.map((entry, position) => {
    const tool = byName.get(nameOfAllowed(entry) ?? '');
    if (tool !== undefined) return context.names.nameOf(identityOf(tool));
    const kind = textAt(entry, 'type') ?? 'the tool';
    report.dropped(report.name('toolChoice', `${list}[${position}]`), `the upstream does not run ${kind}`);
    return undefined;
  });
  const names = allowed.filter((name) => name !== undefined);
  // None of the allowed tools is sent.
  if (names.length === 0) return { mode: 'NONE' };
  return { mode: choice.required ? 'ANY' : 'VALIDATED', allowedFunctionNames: names };
}
