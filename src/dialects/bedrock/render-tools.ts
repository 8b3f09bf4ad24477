import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import type { Report } from '../shared/report/report.ts';
import { notRun } from '../shared/tools/additional-tools.ts';
import { reportLostChoice, reportToolLosses, whyLooseUnlessOwn } from '../shared/tools/tool-losses.ts';
import { freeTextParameters, identityOf, nameOfChosen } from '../shared/tools/tool-names.ts';
import type { Piece, RenderContext, Turn } from './render-context.ts';
import { NO_FIELD, reportForeignMembers, takes } from './render-losses.ts';

/** The tools of a request, cache points still to be set. */
export interface RenderedTools {
  readonly tools: readonly Piece[];
  readonly toolChoice?: JsonObject;
}

const NO_TOOLS: RenderedTools = { tools: [] };

/** `isThinking`: the model then takes no forced call. `turns`: what was said before, which may hold calls. */
export function renderTools(
  context: RenderContext,
  turns: readonly Turn[],
  isThinking: boolean,
): RenderedTools {
  const { request, report, takesTools } = context;
  const { toolChoice } = request;
  if (!takesTools) {
    if (request.tools.length > 0) report.dropped(report.name('tools'), TAKES_NONE);
    reportLostChoice(toolChoice, TAKES_NONE, report);
    return NO_TOOLS;
  }
  const used = toolsUsed(turns);
  if (toolChoice?.mode === 'none' && used.length === 0) {
    if (request.tools.length > 0) {
      report.coerced(report.name('toolChoice'), 'the upstream cannot forbid calls: no tools are sent');
    }
    return NO_TOOLS;
  }
  const tools = allowedTools(request).flatMap((tool) => renderTool(tool, context));
  if (tools.length === 0) {
    reportLostChoice(toolChoice, 'none of the tools it could mean is sent', report);
    return { tools: standIns(used, report) };
  }
  reportLostParallel(request, report);
  const choice = renderChoice(context, isThinking);
  return { tools, ...(choice !== undefined && { toolChoice: choice }) };
}

const TAKES_NONE = 'the endpoint takes no tools';

function renderTool(tool: Tool, context: RenderContext): Piece[] {
  const { request, report, names } = context;
  if (tool.type === 'hosted') {
    report.dropped(report.place(tool, 'tools'), notRun(tool.kind));
    return [];
  }
  reportToolLosses(tool, context, whyLooseUnlessOwn(request));
  reportForeignMembers(tool, 'tools', report);
  const keepsStrict =
    request.formatFacts.hasClaudeStrictTools === true && tool.type === 'function' && tool.strict === true;
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

/** Names of the tools that were called before. */
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

/** The upstream demands tools where there were calls: those that were called are declared, and said to be gone. */
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

/** The format cannot narrow a list of tools: only the allowed ones are sent. */
function allowedTools({ tools, toolChoice }: GenerationRequest): readonly Tool[] {
  if (toolChoice?.mode !== 'allowed') return tools;
  const kinds = new Set<unknown>(toolChoice.tools.map(({ type }) => type));
  const names = new Set(toolChoice.tools.map(nameIn));
  return tools.filter((tool) => (tool.type === 'hosted' ? kinds.has(tool.kind) : names.has(tool.name)));
}

/** Formats write an allowed tool as `{type, name}` or as `{type, function: {name}}`. */
function nameIn(named: JsonObject): unknown {
  return named.name ?? objectAt(named, 'function')?.name ?? objectAt(named, 'custom')?.name;
}

function reportLostParallel({ parallelToolCalls }: GenerationRequest, report: Report): void {
  if (parallelToolCalls === false) report.dropped(report.name('parallelToolCalls'), NO_FIELD);
}

/** The choice where it is another than the upstream's own, `auto`: not every model takes one. */
function renderChoice(context: RenderContext, isThinking: boolean): JsonObject | undefined {
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
