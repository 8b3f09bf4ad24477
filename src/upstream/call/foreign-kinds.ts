import type { ItemReader } from '../../dialects/dialect.ts';
import type { DialectFacts } from '../../dialects/dialect-facts.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { Report } from '../../dialects/shared/report/report.ts';
import { allowedTools } from '../../dialects/shared/tools/allowed-tools.ts';
import type { DialectName, Item, OpaqueItem } from '../../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest, Tool } from '../../ir/request.ts';
import { stringAt } from '../../kit/json/members.ts';

interface Called {
  readonly dialect: string;
  readonly facts: Pick<DialectFacts, 'sendsAllowedToolsOnly'>;
}

/** A request, and what was changed in it. */
interface KnownKinds {
  readonly request: GenerationRequest;
  readonly report: readonly TranslationEntry[];
}

/**
 * The request with kinds that every dialect has in the place of some that the upstream's does not: a call and a result
 * for an item of a hosted tool, so that the model sees what was asked and what the item shows of the result; text for
 * messages between agents; a setting of the request for an item that changes it; a function for a tool that the caller
 * runs.
 */
export function withKnownKinds(request: GenerationRequest, called: Called): KnownKinds {
  const { dialect } = called;
  const { items, tools } = request;
  const hasItems = items.some((item) => item.type === 'opaque' && item.dialect !== dialect);
  const hasTools = tools.some((tool) => tool.type === 'hosted' && tool.dialect !== dialect);
  if (!hasItems && !hasTools) return { request, report: NO_ENTRIES };
  const report = new Report(request);
  const withItems = hasItems ? withKnownItems(request, dialect, report) : request;
  const known = hasTools ? withFunctions(withItems, called, report) : withItems;
  return { request: known, report: report.entries };
}

// --- Items ----------------------------------------------------------------------------------------------------------

function withKnownItems(request: GenerationRequest, dialect: string, report: Report): GenerationRequest {
  let known = request;
  const { items, exactNumbers } = request;
  const readers = new Map<DialectName, ItemReader>();
  const carried = (item: OpaqueItem) => {
    const { inbound } = DIALECTS[item.dialect];
    const read = readers.get(item.dialect) ?? inbound?.carriedItems?.(items, exactNumbers);
    if (read !== undefined) readers.set(item.dialect, read);
    return read?.(item.value, item.role);
  };
  const kept = items.flatMap((item): readonly Item[] => {
    if (item.type !== 'opaque' || item.dialect === dialect) return [item];
    const settings = DIALECTS[item.dialect].inbound?.settingsOfItem?.(item.value, known);
    if (settings !== undefined) {
      report.coerced(report.place(item, 'items'), 'its settings apply to the whole request');
      known = { ...known, ...settings };
      return [];
    }
    const instead = carried(item);
    if (instead === undefined) return [item];
    report.coerced(report.place(item, 'items'), instead.detail);
    return instead.items.map((each) => put(each, item, request));
  });
  return { ...known, items: kept };
}

/** Notes that one thing is sent in the place of another, for reports. */
function put<T extends object>(thing: T, of: object, { places }: GenerationRequest): T {
  const place = places.of(of);
  return place === undefined ? thing : places.put(thing, place);
}

// --- Tools ----------------------------------------------------------------------------------------------------------

function withFunctions(
  request: GenerationRequest,
  { dialect, facts }: Called,
  report: Report,
): GenerationRequest {
  const names = new Map<string, string>();
  const declarations = new Map<Tool, Tool>();
  const tools = request.tools.map((tool): Tool => {
    if (tool.type !== 'hosted' || tool.dialect === dialect) return tool;
    const declared = DIALECTS[tool.dialect].inbound?.functionOfTool?.(tool.value, request.tools);
    if (declared === undefined) return tool;
    names.set(declared.name, declared.name);
    names.set(tool.kind, declared.name);
    const made = put(declared, tool, request);
    declarations.set(made, tool);
    return made;
  });
  const known = withChoice({ ...request, tools }, names);
  const sent = facts.sendsAllowedToolsOnly === true ? allowedTools(known) : tools;
  for (const made of sent) {
    const tool = declarations.get(made);
    if (tool !== undefined) report.coerced(report.place(tool, 'tools'), 'became a function');
  }
  return known;
}

/** A choice of tools that became functions, each by its name or by its kind. */
function withChoice(request: GenerationRequest, names: ReadonlyMap<string, string>): GenerationRequest {
  const { toolChoice } = request;
  if (toolChoice?.mode === 'hosted') {
    const name = names.get(stringAt(toolChoice.value, 'name') ?? stringAt(toolChoice.value, 'type') ?? '');
    if (name === undefined) return request;
    return { ...request, toolChoice: { mode: 'tool', kind: 'function', name } };
  }
  if (toolChoice?.mode !== 'allowed') return request;
  // Lists of allowed tools name functions only, which may be called like a kind of tool.
  const tools = toolChoice.tools.map((entry) => {
    const name = names.get(stringAt(entry, 'type') ?? '');
    return name === undefined ? entry : { type: 'function', name };
  });
  return { ...request, toolChoice: { ...toolChoice, tools } };
}
