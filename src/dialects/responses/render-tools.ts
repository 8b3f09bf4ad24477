import type { RequestFormat } from '../../ir/items.ts';
import type { Quirks } from '../../ir/quirks.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, textAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import type { Report } from '../shared/report/report.ts';
import { isMeant } from '../shared/requests/semantics.ts';
import { cleanTool } from './render-losses.ts';
import { isInItem } from './wire.ts';

/** Types of tools that the provider alone runs. */
type OwnTools = Quirks['ownTools'];

const NAMES: ReadonlySet<string> = new Set(['name']);

/** Renders tools; adjacent tools of one group are sent as that group. */
export function renderTools(
  request: GenerationRequest,
  { quirks }: Pick<RenderTarget, 'quirks'>,
  report: Report,
): JsonObject[] {
  const rendered: JsonObject[] = [];
  let group: { name: string; tools: JsonObject[] } | undefined;
  for (const tool of request.tools) {
    if (tool.type === 'hosted') {
      group = undefined;
      rendered.push(...renderHosted(tool, quirks?.ownTools, report));
      continue;
    }
    if (isInItem(tool)) continue;
    const { namespace } = tool;
    if (namespace === undefined) {
      group = undefined;
      rendered.push(renderTool(tool, request.format));
      continue;
    }
    if (group?.name !== namespace.name) {
      group = { name: namespace.name, tools: [] };
      const description = namespace.description ?? '';
      rendered.push({ type: 'namespace', name: namespace.name, description, tools: group.tools });
    }
    group.tools.push(renderTool(tool, request.format));
  }
  return rendered;
}

// --- One tool -------------------------------------------------------------------------------------------------------

/** `own`: types that the provider runs, in whatever format they are written. */
function renderHosted(tool: Extract<Tool, { type: 'hosted' }>, own: OwnTools, report: Report): JsonObject[] {
  const place = report.place(tool, 'tools');
  if (tool.dialect === 'responses') return [cleanTool(tool.value, place, report)];
  // The messages format names every tool; this one does not.
  if (own?.includes(tool.kind)) return [cleanTool(membersBeyond(tool.value, NAMES) ?? {}, place, report)];
  report.dropped(place, `the upstream does not run ${tool.kind}`);
  return [];
}

function renderTool(tool: Exclude<Tool, { type: 'hosted' }>, format: RequestFormat): JsonObject {
  const { type, name, description } = tool;
  const ext = tool.ext?.responses;
  if (type === 'custom') return compact({ type, name, description, format: tool.format, ...ext });
  return compact({
    type,
    name,
    description,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    // This dialect treats an absent `strict` as true, the other formats as false.
    strict: tool.strict ?? (format === 'responses' ? undefined : false),
    ...ext,
  });
}

// --- The choice among them ------------------------------------------------------------------------------------------

/** The tool choice: upstreams refuse a choice of tools that they do not get. */
export function renderToolChoice(
  request: GenerationRequest,
  { quirks }: Pick<RenderTarget, 'quirks'>,
  report: Report,
): JsonObject | string | undefined {
  const { toolChoice: choice, tools } = request;
  const own = quirks?.ownTools;
  if (choice === undefined) return undefined;
  const drop = () => {
    report.dropped(report.name('toolChoice'), 'the upstream does not run the tools that it is about');
    return undefined;
  };
  // Tools of an MCP server that gave no list are in no request.
  const isHere = (chosen: JsonObject) => tools.some((tool) => isMeant(tool, chosen));
  switch (choice.mode) {
    case 'tool':
      return { type: choice.kind, name: choice.name };
    case 'allowed': {
      const allowed = choice.tools.filter(
        (tool) => isCallable(tool) || (request.format === 'responses' && isHere(tool)),
      );
      if (allowed.length === 0 && choice.tools.length > 0) return drop();
      if (allowed.length < choice.tools.length) {
        report.coerced(report.name('toolChoice'), 'sent without the tools that the upstream does not run');
      }
      return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools: allowed };
    }
    case 'hosted': {
      const type = textAt(choice.value, 'type') ?? '';
      if (choice.dialect !== 'responses' && own?.includes(type)) return { type };
      return choice.dialect === 'responses' && isHere(choice.value) ? choice.value : drop();
    }
    case 'required':
      return tools.every((tool) => isForeignHosted(tool, own)) ? drop() : choice.mode;
    default:
      return choice.mode;
  }
}

function isCallable(tool: JsonObject): boolean {
  return tool.type === 'function' || tool.type === 'custom';
}

function isForeignHosted(tool: Tool, own: OwnTools): boolean {
  return tool.type === 'hosted' && tool.dialect !== 'responses' && own?.includes(tool.kind) !== true;
}
