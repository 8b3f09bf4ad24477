import { DIALECTS } from '../../dialects/dialects.ts';
import { Report } from '../../dialects/shared/report/report.ts';
import type { Item } from '../../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest, Tool, ToolChoice } from '../../ir/request.ts';

/**
 * The request with kinds that every dialect has in the place of some that the upstream's does not: a call and a result
 * for an item of a hosted tool, so that the model sees what was asked and what the item shows of the result; a function
 * for a tool that the caller runs.
 */
export function withKnownKinds(
  request: GenerationRequest,
  dialect: string,
): { readonly request: GenerationRequest; readonly report: readonly TranslationEntry[] } {
  const { items, tools, places } = request;
  const hasItems = items.some((item) => item.type === 'opaque' && item.dialect !== dialect);
  const hasTools = tools.some((tool) => tool.type === 'hosted' && tool.dialect !== dialect);
  if (!hasItems && !hasTools) return { request, report: NO_ENTRIES };
  const report = new Report(request);
  const names = new Set<string>();
  const put = <T extends object>(thing: T, of: object): T => {
    const place = places.of(of);
    return place === undefined ? thing : places.put(thing, place);
  };
  const known = {
    ...request,
    items: items.flatMap((item): readonly Item[] => {
      if (item.type !== 'opaque' || item.dialect === dialect) return [item];
      const call = DIALECTS[item.dialect].inbound?.callOfItem?.(item.value);
      if (call === undefined) return [item];
      report.coerced(report.place(item, 'items'), 'became a call and what the item shows of its result');
      return call.map((each) => put(each, item));
    }),
    tools: tools.map((tool): Tool => {
      if (tool.type !== 'hosted' || tool.dialect === dialect) return tool;
      const declared = DIALECTS[tool.dialect].inbound?.functionOfTool?.(tool.value);
      if (declared === undefined) return tool;
      report.coerced(report.place(tool, 'tools'), 'became a function');
      names.add(declared.name);
      return put(declared, tool);
    }),
  };
  return { request: withChoice(known, names), report: report.entries };
}

/** A choice of one of the tools that became functions. */
function withChoice(request: GenerationRequest, names: ReadonlySet<string>): GenerationRequest {
  const { toolChoice } = request;
  if (toolChoice?.mode !== 'hosted') return request;
  const { name } = toolChoice.value;
  if (typeof name !== 'string' || !names.has(name)) return request;
  const chosen: ToolChoice = { mode: 'tool', kind: 'function', name };
  return { ...request, toolChoice: chosen };
}
