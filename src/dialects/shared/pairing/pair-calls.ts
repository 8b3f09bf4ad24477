import type { CacheMark, Item, MessageItem, Part, ToolCallItem, ToolResultItem } from '../../../ir/items.ts';
import { digestedId } from '../answers/digested-id.ts';
import type { Report } from '../report/report.ts';

/** A call or a result of a conversation in any form. */
export type CallStep<T> = {
  readonly kind: 'call' | 'result';
  readonly callId: string;
  readonly thing: T;
  readonly turn: number;
};

export interface Pairing<T> {
  /** Results without a call; the second result of a call is one. */
  readonly orphans: ReadonlySet<T>;
  /** Calls without a result. */
  readonly missing: ReadonlySet<T>;
  readonly results: ReadonlyMap<T, T>;
  /**
   * New ids of calls that share theirs with another of their turn, and of their results: upstreams require unique ids.
   */
  readonly newIds: ReadonlyMap<T, string>;
}

/** Calls of one turn with one id. */
interface Namesakes<T> {
  readonly turn: number;
  readonly calls: T[];
  answered: number;
}

/** Pairs calls with results. Several calls may share an id: a result answers the first open one of the latest turn. */
export function pairingOf<T>(steps: Iterable<CallStep<T>>): Pairing<T> {
  const open = new Map<string, Namesakes<T>[]>();
  const orphans = new Set<T>();
  const results = new Map<T, T>();
  const newIds = new Map<T, string>();
  for (const { kind, callId, thing, turn } of steps) {
    const groups = open.get(callId) ?? [];
    const last = groups.at(-1);
    if (kind === 'call') {
      if (last?.turn !== turn) groups.push({ turn, calls: [thing], answered: 0 });
      else newIds.set(thing, digestedId(callId, `${callId} ${last.calls.push(thing)}`));
      open.set(callId, groups);
      continue;
    }
    const call = last?.calls[last.answered];
    if (last === undefined || call === undefined) {
      orphans.add(thing);
      continue;
    }
    last.answered++;
    if (last.answered === last.calls.length) groups.pop();
    results.set(call, thing);
    const newId = newIds.get(call);
    if (newId !== undefined) newIds.set(thing, newId);
  }
  const missing = new Set<T>();
  for (const groups of open.values()) {
    for (const { calls, answered } of groups) for (const call of calls.slice(answered)) missing.add(call);
  }
  return { orphans, missing, results, newIds };
}

/**
 * Pairs calls and results, because upstreams refuse results without a call, calls without a result, and anything
 * between the two. An orphan result becomes user text; a call without a result gets one that says so; a late result is
 * moved behind its call. Returns the same list if nothing changes.
 *
 * Gemini and Bedrock do not use it, because they pair after they have made turns of the items. Bedrock takes results
 * only at the beginning of the turn after their calls: a later one is no late result but plain content
 * (`bedrock/render-content.ts`). Gemini pairs by order and has no ids, so that each turn of calls is followed by one of
 * as many results in the same order (`gemini/render-content.ts`).
 *
 * `needsNone`: calls that stay without a result, because the upstream ran them.
 */
export function pairCalls(
  items: readonly Item[],
  report: Report,
  needsNone: ReadonlySet<Item> = NO_ITEMS,
): readonly Item[] {
  if (!items.some(isOfCall)) return items;
  const pairing = pairingOf(stepsOf(items, needsNone));
  const paired = placed(items, pairing, needsNone, report);
  const isSame = paired.length === items.length && paired.every((item, at) => item === items[at]);
  return isSame ? items : paired;
}

const NO_ITEMS: ReadonlySet<Item> = new Set();

type CallItem = ToolCallItem | ToolResultItem;

function isOfCall(item: Item): item is CallItem {
  return item.type === 'tool-call' || item.type === 'tool-result';
}

function* stepsOf(items: readonly Item[], needsNone: ReadonlySet<Item>): Iterable<CallStep<CallItem>> {
  let turn = 0;
  for (const item of items) {
    if (!isOfTurn(item)) turn++;
    if (needsNone.has(item)) continue;
    if (item.type === 'tool-call') yield { kind: 'call', callId: item.callId, thing: item, turn };
    if (item.type === 'tool-result') yield { kind: 'result', callId: item.callId, thing: item, turn };
  }
}

function placed(
  items: readonly Item[],
  pairing: Pairing<CallItem>,
  needsNone: ReadonlySet<Item>,
  report: Report,
): Item[] {
  const all: Item[] = [];
  const sequence = new ResultSequence(pairing.results);
  function answer(): void {
    for (const { call, result } of sequence.rest()) {
      if (result === undefined) all.push(emptyResult(renamed(call, pairing, report), report));
      else {
        report.coerced(report.place(result, 'items'), LATE_RESULT);
        all.push(renamed(result, pairing, report));
      }
    }
  }
  for (const item of items) {
    if (item.type === 'tool-result' && !pairing.orphans.has(item)) {
      if (sequence.takesResult(item)) all.push(renamed(item, pairing, report));
      continue;
    }
    if (!isOfTurn(item) || sequence.hasResults) answer();
    if (item.type === 'tool-call' && !needsNone.has(item)) sequence.addCall(item);
    all.push(item.type === 'tool-result' ? asSaid(item, report) : renamed(item, pairing, report));
  }
  answer();
  return all;
}

/** Tells which results directly follow the calls of a turn, and which must be moved there. */
export class ResultSequence<T> {
  readonly #results: ReadonlyMap<T, T>;
  readonly #placed = new Set<T>();
  #calls: T[] = [];
  /** True if results of the turn have come. */
  hasResults = false;

  constructor(results: ReadonlyMap<T, T>) {
    this.#results = results;
  }

  addCall(call: T): void {
    this.#calls.push(call);
  }

  /** Takes the next result; false if it was already moved behind its call. */
  takesResult(result: T): boolean {
    this.hasResults = true;
    if (this.#placed.has(result)) return false;
    this.#placed.add(result);
    return true;
  }

  /** Ends the turn: its calls without results so far, with the results that come later. */
  rest(): { readonly call: T; readonly result: T | undefined }[] {
    const rest = this.#calls.flatMap((call) => {
      const result = this.#results.get(call);
      return result !== undefined && this.#placed.has(result) ? [] : [{ call, result }];
    });
    for (const { result } of rest) if (result !== undefined) this.#placed.add(result);
    this.#calls = [];
    this.hasResults = false;
    return rest;
  }
}

function renamed<T extends Item>(item: T, { newIds }: Pairing<CallItem>, report: Report): T {
  const callId = isOfCall(item) ? newIds.get(item) : undefined;
  return callId === undefined ? item : report.standIn({ ...item, callId }, item);
}

/** True for an item of a model's turn: results follow after all of it. */
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

function emptyResult(call: CallItem, report: Report): ToolResultItem {
  report.coerced(report.place(call, 'items'), WITHOUT_RESULT);
  const { kind, callId } = call;
  return { type: 'tool-result', kind, callId, content: [{ type: 'text', text: NO_RESULT }] };
}

/** Report detail of a result without a call. */
export const WITHOUT_CALL = 'a result without its call became user text';

/** Report detail of a call without a result. */
export const WITHOUT_RESULT = 'the call has no result: a result that says so is sent';

/** Report detail of a result that does not directly follow its call. */
export const LATE_RESULT =
  'the result was put directly behind its call: upstreams want nothing between the two';

/** Text in place of a missing result. */
export const NO_RESULT = 'No result was recorded.';

/** Text before a result that became user text. */
export function labelOfResult(callId: string, isError: boolean): string {
  return `${isError ? 'Error' : 'Output'} of tool call ${callId}:`;
}
