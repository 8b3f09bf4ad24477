import type { CacheMark, Item, MessageItem, Part, ToolCallItem, ToolResultItem } from '../ir/items.ts';
import type { Report } from './report.ts';

/**
 * Upstreams refuse results that answer no call, and calls that nobody answers. A result without its call becomes what the
 * user says; a call without a result gets one that says so. A conversation in which all is well is returned itself.
 */
export function pairCalls(items: readonly Item[], report: Report): readonly Item[] {
  const unanswered = new Map<string, ToolCallItem[]>();
  const orphans = new Set<ToolResultItem>();
  for (const item of items) {
    if (item.type === 'tool-call') {
      const same = unanswered.get(item.callId);
      if (same === undefined) unanswered.set(item.callId, [item]);
      else same.push(item);
    } else if (item.type === 'tool-result' && unanswered.get(item.callId)?.pop() === undefined) {
      orphans.add(item);
    }
  }
  const missing = new Set([...unanswered.values()].flat());
  if (orphans.size === 0 && missing.size === 0) return items;
  return paired(items, orphans, missing, report);
}

function paired(
  items: readonly Item[],
  orphans: ReadonlySet<ToolResultItem>,
  missing: ReadonlySet<ToolCallItem>,
  report: Report,
): Item[] {
  const all: Item[] = [];
  let waiting: ToolCallItem[] = [];
  const answer = () => {
    for (const call of waiting) all.push(emptyResult(call, report));
    waiting = [];
  };
  for (const item of items) {
    if (!isOfTurn(item)) answer();
    if (item.type === 'tool-call' && missing.has(item)) waiting.push(item);
    all.push(item.type === 'tool-result' && orphans.has(item) ? asSaid(item, report) : item);
  }
  answer();
  return all;
}

/** True for what the model says in one turn: results follow after all of it. */
function isOfTurn(item: Item): boolean {
  return item.type === 'message' ? item.role === 'assistant' : item.type !== 'tool-result';
}

function asSaid(item: ToolResultItem, report: Report): MessageItem {
  report.coerced(report.place(item, 'items'), WITHOUT_CALL);
  const label: Part = { type: 'text', text: labelOfResult(item.callId, item.isError === true) };
  const last = item.content.at(-1) ?? label;
  const before = item.content.length === 0 ? [] : [label, ...item.content.slice(0, -1)];
  const said: MessageItem = {
    type: 'message',
    role: 'user',
    content: [...before, marked(last, item, report)],
    ...(item.ext !== undefined && { ext: item.ext }),
  };
  return report.standIn(said, item);
}

/** The last part with the mark of the whole. */
function marked(part: Part, { cache }: { readonly cache?: CacheMark }, report: Report): Part {
  return cache === undefined || !CACHEABLE.has(part.type) ? part : report.standIn({ ...part, cache }, part);
}

const CACHEABLE: ReadonlySet<Part['type']> = new Set(['text', 'image', 'file']);

function emptyResult(call: ToolCallItem, report: Report): ToolResultItem {
  report.coerced(
    report.place(call, 'items'),
    'the call has no result: the upstream is told that there is none',
  );
  const { kind, callId } = call;
  return { type: 'tool-result', kind, callId, content: [{ type: 'text', text: 'No result was recorded.' }] };
}

/** What the report says of a result without its call. */
export const WITHOUT_CALL = 'a result without its call became user text';

/** What stands in front of a result that the user is made to say. */
export function labelOfResult(callId: string, isError: boolean): string {
  return `${isError ? 'Error' : 'Output'} of tool call ${callId}:`;
}
