import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { renderCacheMark } from '../gateway-fields.ts';
import type { Report } from '../report.ts';
import { flatToolName, freeTextParameters } from '../tool-names.ts';

/** The members of a wire body that are about tools. `isThinking`: the upstream then takes no forced call. */
export function renderTools(
  request: GenerationRequest,
  target: RenderTarget,
  isThinking: boolean,
  report: Report,
): JsonObject {
  if (request.tools.length === 0) return {};
  if (target.supportedParameters?.has('tools') === false) {
    report.dropped(report.name('tools'), 'the endpoint takes no tools');
    return {};
  }
  const allowed = allowedTools(request, report);
  const tools = allowed
    .map((tool) => renderTool(tool, request.tools.indexOf(tool), request, report))
    .filter((tool) => tool !== undefined);
  if (tools.length === 0) return {};
  const choice = renderChoice(request, target, isThinking, report);
  return { tools, ...(choice !== undefined && { tool_choice: choice }) };
}

function renderTool(
  tool: Tool,
  position: number,
  request: GenerationRequest,
  report: Report,
): JsonObject | undefined {
  const place = report.name('tools', `[${position}]`);
  switch (tool.type) {
    case 'hosted':
      if (tool.dialect === 'messages') return tool.value;
      report.dropped(place, `the upstream does not run tools of type ${tool.kind}`);
      return undefined;
    case 'custom':
      if (tool.format !== undefined && tool.format.type !== 'text') {
        report.coerced(place, 'the grammar became part of the description of a string argument');
      }
      return {
        name: flatToolName(tool.name, tool.namespace?.name),
        ...described(tool),
        input_schema: freeTextParameters(tool),
      };
    case 'function': {
      const keepsStrict = request.format === 'messages' && tool.strict !== undefined;
      if (tool.strict === true && !keepsStrict)
        report.dropped(`${place}.strict`, 'the upstream has no such field');
      return {
        name: flatToolName(tool.name, tool.namespace?.name),
        ...described(tool),
        input_schema: { type: 'object', ...tool.parameters },
        ...(keepsStrict && { strict: tool.strict }),
        ...(tool.cache !== undefined && { cache_control: renderCacheMark(tool.cache) }),
        ...tool.ext?.messages,
      };
    }
  }
}

function described(tool: { readonly description?: string }): JsonObject {
  return tool.description === undefined ? {} : { description: tool.description };
}

/** The format cannot narrow a list of tools: only the allowed ones are sent. */
function allowedTools({ tools, toolChoice }: GenerationRequest, report: Report): readonly Tool[] {
  if (toolChoice?.mode !== 'allowed') return tools;
  report.coerced(report.name('toolChoice'), 'only the allowed tools are sent');
  return tools.filter((tool) =>
    toolChoice.tools.some((named) =>
      tool.type === 'hosted' ? named.type === tool.kind : nameIn(named) === tool.name,
    ),
  );
}

/** Formats write an allowed tool as `{type, name}` or as `{type, function: {name}}`. */
function nameIn(named: JsonObject): unknown {
  const inner = named.function ?? named.custom;
  return (
    named.name ?? (typeof inner === 'object' && inner !== null && 'name' in inner ? inner.name : undefined)
  );
}

function renderChoice(
  request: GenerationRequest,
  target: RenderTarget,
  isThinking: boolean,
  report: Report,
): JsonObject | undefined {
  const forbidsParallel = request.parallelToolCalls === false;
  if (target.supportedParameters?.has('tool_choice') === false) {
    if (request.toolChoice !== undefined && request.toolChoice.mode !== 'auto') {
      report.dropped(report.name('toolChoice'), 'the endpoint takes no choice of tools');
    }
    if (forbidsParallel)
      report.dropped(report.name('parallelToolCalls'), 'the endpoint takes no choice of tools');
    return undefined;
  }
  const choice = wireChoice(request.toolChoice, request.tools, report);
  const settled = isThinking && choice !== undefined && FORCED.has(choice.type) ? { type: 'auto' } : choice;
  if (settled !== choice) {
    report.coerced(report.name('toolChoice'), 'became auto: the upstream forces no call while thinking');
  }
  if (!forbidsParallel || settled?.type === 'none') return settled;
  return { ...(settled ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

const FORCED: ReadonlySet<unknown> = new Set(['any', 'tool']);

function wireChoice(
  choice: ToolChoice | undefined,
  tools: readonly Tool[],
  report: Report,
): JsonObject | undefined {
  switch (choice?.mode) {
    case 'auto':
    case 'none':
      return { type: choice.mode };
    case 'required':
      return { type: 'any' };
    case 'tool': {
      const tool = tools.find((each) => each.type !== 'hosted' && each.name === choice.name);
      const namespace = tool?.type === 'hosted' ? undefined : tool?.namespace?.name;
      return { type: 'tool', name: flatToolName(choice.name, namespace) };
    }
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
