import { conversationForm } from '../../ir/format-facts.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import type { Report } from '../shared/report/report.ts';
import { notRun } from '../shared/tools/additional-tools.ts';
import { allowedTools } from '../shared/tools/allowed-tools.ts';
import { reportLostChoice, reportToolLosses, whyLooseUnlessOwn } from '../shared/tools/tool-losses.ts';
import { freeTextParameters, identityOf, nameOfChosen } from '../shared/tools/tool-names.ts';
import type { Piece, RenderContext, Turn } from './render-context.ts';
import { reportForeignMembers, takes } from './render-losses.ts';

/** The tools of a request, before cache points are set. */
export interface RenderedTools {
  readonly tools: readonly Piece[];
  readonly toolChoice?: JsonObject;
}

const NOTHING: RenderedTools = { tools: [] };

/** `isThinking`: the model accepts no forced call. `turns`: the rendered turns, which may have calls. */
export function renderTools(
  context: RenderContext,
  turns: readonly Turn[],
  isThinking: boolean,
): RenderedTools {
  const { request, report, takesTools } = context;
  const { toolChoice } = request;
  if (!takesTools) {
    if (request.tools.length > 0) report.dropped(report.name('tools'), NO_TOOLS);
    reportLostChoice(toolChoice, NO_TOOLS, report);
    return NOTHING;
  }
  const used = toolsUsed(turns);
  if (toolChoice?.mode === 'none' && used.length === 0) {
    if (request.tools.length > 0) {
      report.coerced(report.name('toolChoice'), 'the upstream cannot forbid calls: no tools are sent');
    }
    return NOTHING;
  }
  const tools = allowedTools(request).flatMap((tool) => renderTool(tool, context));
  if (tools.length === 0) {
    reportLostChoice(toolChoice, 'none of the tools it could mean is sent', report);
    return { tools: standIns(used, report) };
  }
  reportLostParallel(request, report);
  const choice = renderToolChoice(context, isThinking);
  return { tools, ...(choice !== undefined && { toolChoice: choice }) };
}

const NO_TOOLS = 'the endpoint takes no tools';

function reportLostParallel({ parallelToolCalls }: GenerationRequest, report: Report): void {
  if (parallelToolCalls === false) report.dropped(report.name('parallelToolCalls'), NO_FIELD);
}

// --- One tool -------------------------------------------------------------------------------------------------------

function renderTool(tool: Tool, context: RenderContext): Piece[] {
  const { request, report, names } = context;
  if (tool.type === 'hosted') {
    report.dropped(report.place(tool, 'tools'), notRun(tool.kind));
    return [];
  }
  reportToolLosses(tool, context, whyLooseUnlessOwn(request));
  reportForeignMembers(tool, 'tools', report);
  const keepsStrict =
    conversationForm(request.formatFacts).hasClaudeStrictTools === true &&
    tool.type === 'function' &&
    tool.strict === true;
  const json = tool.type === 'custom' ? freeTextParameters(tool) : { type: 'object', ...tool.parameters };
  const { description = '' } = tool;
  const block = {
    toolSpec: {
      name: names.nameOf(identityOf(tool)),
      ...(description.trim() !== '' && { description }),
      inputSchema: { json },
      ...(keepsStrict && { strict: true }),
    },
  };
  const cache = tool.type === 'function' ? tool.cache : undefined;
  const mark =
    cache === undefined ? {} : { mark: { cache, field: report.place(tool, 'tools', 'cache_control') } };
  return [{ block, ...mark }];
}

// --- Tools of earlier turns -----------------------------------------------------------------------------------------

function toolsUsed(turns: readonly Turn[]): readonly string[] {
  const names = new Set<string>();
  for (const { pieces } of turns) {
    for (const { block } of pieces) {
      const name = stringAt(objectAt(block, 'toolUse'), 'name');
      if (name !== undefined) names.add(name);
    }
  }
  return [...names];
}

/** The upstream requires tool definitions if there were calls: declares the called tools as no longer available. */
function standIns(names: readonly string[], report: Report): Piece[] {
  if (names.length > 0) {
    const detail = 'tools that were called before are declared: the upstream demands it';
    report.coerced(report.name('tools'), detail);
  }
  return names.map((name) => ({
    block: { toolSpec: { name, description: GONE, inputSchema: { json: { type: 'object' } } } },
  }));
}

const GONE = 'No longer available: do not call it.';

// --- The choice among them ------------------------------------------------------------------------------------------

/** The tool choice, unless it is the default `auto`: not every model accepts one. */
function renderToolChoice(context: RenderContext, isThinking: boolean): JsonObject | undefined {
  const { request, target, report } = context;
  const { toolChoice } = request;
  const field = report.name('toolChoice');
  const changes = toolChoice?.mode === 'allowed' ? ['only the allowed tools are sent'] : [];
  const choice = wireChoice(toolChoice, context);
  if (choice !== undefined && !takes('toolChoice', target)) {
    changes.push('became auto: the endpoint takes no choice of tools');
  } else if (choice !== undefined && isThinking) {
    changes.push('became auto: the upstream forces no call while thinking');
  } else {
    if (changes.length > 0) report.coerced(field, changes.join('; '));
    return choice;
  }
  report.coerced(field, changes.join('; '));
  return undefined;
}

function wireChoice(choice: ToolChoice | undefined, context: RenderContext): JsonObject | undefined {
  const { report } = context;
  const field = report.name('toolChoice');
  switch (choice?.mode) {
    case 'none':
      report.coerced(
        field,
        'became auto: the upstream cannot forbid calls, and earlier turns need the tools',
      );
      return undefined;
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: nameOfChosen(choice, context.request, context.names) } };
    case 'allowed':
      return choice.required ? { any: {} } : undefined;
    case 'hosted':
      report.dropped(field, 'names a hosted tool that the upstream does not run');
      return undefined;
    case 'auto':
    case undefined:
      return undefined;
  }
}
