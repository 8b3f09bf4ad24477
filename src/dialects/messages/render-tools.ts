import type { Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { notRun } from '../shared/tools/additional-tools.ts';
import { allowedTools } from '../shared/tools/allowed-tools.ts';
import { reportLostChoice, reportToolLosses, whyLooseUnlessOwn } from '../shared/tools/tool-losses.ts';
import { freeTextParameters, identityOf, nameOfChosen } from '../shared/tools/tool-names.ts';
import type { RenderContext } from './render-context.ts';
import { reportForeignMembers, takes } from './render-losses.ts';

/** Renders the members of a body for tools. `isThinking`: the upstream accepts no forced call. */
export function renderTools(context: RenderContext, isThinking: boolean): JsonObject {
  const { request, target, report } = context;
  if (!takes('tools', target)) {
    if (request.tools.length > 0) report.dropped(report.name('tools'), NO_TOOLS);
    reportLostChoice(request.toolChoice, NO_TOOLS, report);
    return {};
  }
  const tools = allowedTools(request).flatMap((tool) => renderTool(tool, context));
  if (tools.length === 0) {
    reportLostChoice(request.toolChoice, 'none of the tools it could mean is sent', report);
    return {};
  }
  const choice = renderToolChoice(context, isThinking);
  return { tools, ...(choice !== undefined && { tool_choice: choice }) };
}

const NO_TOOLS = 'the endpoint takes no tools';

// --- One tool -------------------------------------------------------------------------------------------------------

function renderTool(tool: Tool, context: RenderContext): JsonObject[] {
  const { request, report, marks, names } = context;
  if (tool.type === 'hosted') {
    if (tool.dialect === 'messages') {
      return [marks.adopt(tool.value, () => report.place(tool, 'tools', 'cache_control'))];
    }
    report.dropped(report.place(tool, 'tools'), notRun(tool.kind));
    return [];
  }
  const keepsStrict = request.format === 'messages' && tool.type === 'function' && tool.strict !== undefined;
  reportToolLosses(tool, context, whyLooseUnlessOwn(request));
  reportForeignMembers(tool, 'tools', report);
  const block: JsonObject = {
    name: names.nameOf(identityOf(tool)),
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: tool.type === 'custom' ? freeTextParameters(tool) : { type: 'object', ...tool.parameters },
    ...(keepsStrict && { strict: tool.strict }),
    ...tool.ext?.messages,
  };
  if (tool.type === 'custom') return [block];
  return [marks.put(block, tool.cache, () => report.place(tool, 'tools', 'cache_control'))];
}

// --- The choice among them ------------------------------------------------------------------------------------------

function renderToolChoice(context: RenderContext, isThinking: boolean): JsonObject | undefined {
  const { request, target, report } = context;
  const forbidsParallel = request.parallelToolCalls === false;
  const { toolChoice } = request;
  const field = report.name('toolChoice');
  const changes = toolChoice?.mode === 'allowed' ? ['only the allowed tools are sent'] : [];
  if (!takes('toolChoice', target)) {
    if (changes.length > 0) report.coerced(field, [...changes, NO_CHOICE].join('; '));
    else if (toolChoice !== undefined && toolChoice.mode !== 'auto') report.dropped(field, NO_CHOICE);
    if (forbidsParallel) report.dropped(report.name('parallelToolCalls'), NO_CHOICE);
    return undefined;
  }
  const choice = wireChoice(toolChoice, context);
  const settled = isThinking && choice !== undefined && FORCED.has(choice.type) ? { type: 'auto' } : choice;
  if (settled !== choice) changes.push('became auto: the upstream forces no call while thinking');
  if (changes.length > 0) report.coerced(field, changes.join('; '));
  if (!forbidsParallel || settled?.type === 'none') return settled;
  return { ...(settled ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

const NO_CHOICE = 'the endpoint takes no choice of tools';

const FORCED: ReadonlySet<unknown> = new Set(['any', 'tool']);

function wireChoice(choice: ToolChoice | undefined, context: RenderContext): JsonObject | undefined {
  const { report } = context;
  switch (choice?.mode) {
    case 'auto':
    case 'none':
      return { type: choice.mode };
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: nameOfChosen(choice, context.request, context.names) };
    case 'allowed':
      return { type: choice.required ? 'any' : 'auto' };
    case 'hosted':
      if (choice.dialect === 'messages') return choice.value;
      report.dropped(report.name('toolChoice'), 'names a hosted tool that the upstream does not run');
      return undefined;
    case undefined:
      return undefined;
  }
}
