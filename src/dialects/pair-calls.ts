import type { CacheMark, Item, MessageItem, Part, ToolCallItem, ToolResultItem } from '../ir/items.ts';
import { Pace, type Sliced } from '../kit/turns.ts';
import type { Report } from './report.ts';

/** A call or a result, as a conversation in any form holds it. */
export type CallStep<T> = {
  readonly kind: 'call' | 'result';
  readonly callId: string;
  /** What stands in the conversation. */
  readonly thing: T;
};

/** Calls and results of which the other half is missing. */
export interface Unpaired<T> {
  /** Results without their call; the second result of a call is one. */
  readonly orphans: ReadonlySet<T>;
  /** Calls without a result. */
  readonly missing: ReadonlySet<T>;
}

/** Pairs calls with results, in order. Several calls may share an id: a result answers the latest that is open. */
export function* unpaired<T>(steps: Iterable<CallStep<T>>): Sliced<Unpaired<T>> {
  const pace = new Pace();
  const unanswered = new Map<string, T[]>();
  const orphans = new Set<T>();
  for (const { kind, callId, thing } of steps) {
    if (pace.tick()) yield;
    const open = unanswered.get(callId);
    if (kind === 'result') {
      if (open?.pop() === undefined) orphans.add(thing);
    } else if (open === undefined) unanswered.set(callId, [thing]);
    else open.push(thing);
  }
  const missing = new Set<T>();
  for (const open of unanswered.values()) for (const thing of open) missing.add(thing);
  return { orphans, missing };
}

/**
 * Upstreams refuse results that answer no call, and calls that nobody answers. A result without its call becomes what the
 * user says; a call without a result gets one that says so. A conversation in which all is well is returned itself.
 */
export function* pairCalls(items: readonly Item[], report: Report): Sliced<readonly Item[]> {
  const { orphans, missing } = yield* unpaired(stepsOf(items));
  return orphans.size === 0 && missing.size === 0 ? items : yield* paired(items, orphans, missing, report);
}

function* stepsOf(items: readonly Item[]): Iterable<CallStep<Item>> {
  for (const item of items) {
    if (item.type === 'tool-call') yield { kind: 'call', callId: item.callId, thing: item };
    if (item.type === 'tool-result') yield { kind: 'result', callId: item.callId, thing: item };
  }
}

function* paired(
  items: readonly Item[],
  orphans: ReadonlySet<Item>,
  missing: ReadonlySet<Item>,
  report: Report,
): Sliced<Item[]> {
  const pace = new Pace();
  const all: Item[] = [];
  let waiting: ToolCallItem[] = [];
  function* answer(): Sliced<void> {
    for (const call of waiting) {
      if (pace.tick()) yield;
      all.push(emptyResult(call, report));
    }
    waiting = [];
  }
  for (const item of items) {
    if (pace.tick()) yield;
    if (!isOfTurn(item)) yield* answer();
    if (item.type === 'tool-call' && missing.has(item)) waiting.push(item);
    all.push(item.type === 'tool-result' && orphans.has(item) ? asSaid(item, report) : item);
  }
  yield* answer();
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
  report.coerced(report.place(call, 'items'), WITHOUT_RESULT);
  const { kind, callId } = call;
  return { type: 'tool-result', kind, callId, content: [{ type: 'text', text: NO_RESULT }] };
}

/** What the report says of a result without its call. */
export const WITHOUT_CALL = 'a result without its call became user text';

/** What the report says of a call without a result. */
export const WITHOUT_RESULT = 'the call has no result: the upstream is told that there is none';

/** What the upstream is told in the place of a result. */
export const NO_RESULT = 'No result was recorded.';

/** What stands in front of a result that the user is made to say. */
export function labelOfResult(callId: string, isError: boolean): string {
  return `${isError ? 'Error' : 'Output'} of tool call ${callId}:`;
}
