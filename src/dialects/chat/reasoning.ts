import type { ReasoningItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectsAt, textAt } from '../../kit/json/members.ts';
import {
  type OpenedSeal,
  placeOfSeal,
  type Sealed,
  unwrapSeal,
  wrapSeal,
} from '../shared/reasoning/custody.ts';

import type { ReasoningDetail } from './wire.ts';

/**
 * `reasoning_details` in both directions. Entries with the same `index` are pieces of one part; entries with the same
 * `id` are parts of one item. The seal of a tool call is an encrypted entry whose `id` is the id of the call.
 *
 * A `format` names the family that sealed an entry, not the upstream that sent it: chat upstreams pass on seals of any
 * family. So seals from chat upstreams reach callers unwrapped, those from other dialects wrapped.
 *
 * A message has its thoughts apart from its content, so their order is lost. The wrapper of a seal therefore records
 * the content that it followed.
 */

/** Content that thoughts followed: 0 = the text of the message, n = its n-th image, undefined = nothing. */
export type Followed = number | undefined;

/** Members of a message with its thoughts as plain text. */
export const PLAIN_THOUGHTS = ['reasoning', 'reasoning_content'] as const;

// --- From the wire --------------------------------------------------------------------------------------------------

/** Thoughts of an earlier message, and the content that they followed. */
export interface PlacedThoughts {
  readonly item: ReasoningItem;
  readonly after: Followed;
}

export function parseReasoningDetails(details: readonly JsonObject[]): PlacedThoughts[] {
  return groupsOf(details).map((group) => ({ item: itemOf(group), after: followedBy(group) }));
}

function followedBy(details: readonly JsonObject[]): Followed {
  return details
    .flatMap((detail) => SEAL_MEMBERS.map((member) => placeOfSeal(textAt(detail, member) ?? '')))
    .find((place) => place !== undefined);
}

export class DetailGroup {
  readonly #indexes = new Set<number>();
  #id: string | undefined;

  /** True if `detail` may belong to the item of the entries so far. */
  accepts(detail: JsonObject): boolean {
    const id = textAt(detail, 'id');
    if (id !== undefined && this.#id !== undefined) return id === this.#id;
    const index = numberAt(detail, 'index');
    return index === undefined || this.#indexes.size === 0 || this.#indexes.has(index);
  }

  take(detail: JsonObject): void {
    this.#id ??= textAt(detail, 'id');
    const index = numberAt(detail, 'index');
    if (index !== undefined) this.#indexes.add(index);
  }
}

/** Details of a message by item. Entries of two families are never one item. */
export function groupsOf(details: readonly JsonObject[]): JsonObject[][] {
  const groups: JsonObject[][] = [];
  let group = new DetailGroup();
  let format: string | undefined;
  for (const detail of details) {
    const ownFormat = textAt(detail, 'format');
    const isOfOthers = ownFormat !== undefined && format !== undefined && ownFormat !== format;
    if (groups.length === 0 || isOfOthers || !group.accepts(detail)) {
      groups.push([]);
      group = new DetailGroup();
      format = undefined;
    }
    group.take(detail);
    format ??= ownFormat;
    groups.at(-1)?.push(detail);
  }
  return groups;
}

function itemOf(details: readonly JsonObject[]): ReasoningItem {
  const id = details.map((detail) => textAt(detail, 'id')).find((value) => value !== undefined);
  const text = partsOf(details, 'reasoning.text', 'text');
  const summary = partsOf(details, 'reasoning.summary', 'summary');
  const signature = lastOf(details, 'signature');
  const encrypted = lastOf(details, 'data');
  const format = lastOf(details, 'format');
  const isUnsealed = signature === undefined && encrypted === undefined;
  return {
    type: 'reasoning',
    ...(id !== undefined && { id }),
    text,
    summary,
    ...(format !== undefined && { format }),
    ...(isUnsealed && format !== undefined && { givenBy: 'chat' }),
    ...(signature !== undefined && readSeal(signature, 'signature')),
    ...(encrypted !== undefined && readSeal(encrypted, 'encrypted')),
  };
}

/** Texts of one type; pieces with the same index are joined. */
function partsOf(details: readonly JsonObject[], type: string, member: string): string[] {
  const parts: string[] = [];
  let last: number | undefined;
  for (const detail of details) {
    const text = textAt(detail, member);
    if (detail.type !== type || text === undefined) continue;
    const index = numberAt(detail, 'index');
    if (index !== undefined && index === last) parts[parts.length - 1] += text;
    else parts.push(text);
    last = index;
  }
  return parts;
}

function lastOf(details: readonly JsonObject[], member: string): string | undefined {
  return details.map((detail) => textAt(detail, member)).findLast((value) => value !== undefined);
}

// --- To the wire ----------------------------------------------------------------------------------------------------

export function renderThoughts(thoughts: readonly ReasoningItem[]): ReasoningDetail[] {
  let index = 0;
  return thoughts.flatMap((item) => {
    const details = renderReasoningDetails(item, index);
    index += indexesOf(item);
    return details;
  });
}

/** Writes the thoughts of one item. `firstIndex`: number of parts in the items before it. */
export function renderReasoningDetails(
  item: ReasoningItem,
  firstIndex: number,
  after?: Followed,
): ReasoningDetail[] {
  const common = {
    ...(item.id !== undefined && { id: item.id }),
    ...(item.format !== undefined && { format: item.format }),
  };
  const { signature: given, encrypted: data, format, givenBy } = item;
  const signature =
    given === undefined ? undefined : writeSeal(given, { signature: given, format, givenBy }, after);
  let index = firstIndex;
  const texts = item.text.map((text, at): ReasoningDetail => {
    const isLast = at === item.text.length - 1;
    const seal = isLast && signature !== undefined ? { signature } : {};
    return { type: 'reasoning.text', text, ...seal, ...common, index: index++ };
  });
  const summaries = item.summary.map(
    (summary): ReasoningDetail => ({ type: 'reasoning.summary', summary, ...common, index: index++ }),
  );
  const sealIndex = Math.max(index - 1, firstIndex);
  const bareSignature: ReasoningDetail[] =
    signature !== undefined && texts.length === 0
      ? [{ type: 'reasoning.text', text: '', signature, ...common, index: sealIndex }]
      : [];
  const encrypted: ReasoningDetail[] =
    data === undefined
      ? []
      : [
          {
            type: 'reasoning.encrypted',
            data: writeSeal(data, { encrypted: data, format, givenBy }, after),
            ...common,
            index: sealIndex,
          },
        ];
  return [...texts, ...summaries, ...bareSignature, ...encrypted];
}

export function indexesOf(item: ReasoningItem): number {
  return Math.max(item.text.length + item.summary.length, 1);
}

// --- Seals ----------------------------------------------------------------------------------------------------------

/** True for an entry with a seal from an upstream of another dialect. */
export function isForeign(detail: JsonObject): boolean {
  return SEAL_MEMBERS.some((member) => unwrapSeal(textAt(detail, member) ?? '') !== undefined);
}

const SEAL_MEMBERS = ['signature', 'data'];

/** A seal as an entry has it. */
export function writeSeal(seal: string, from: Sealed, after?: Followed): string {
  return from.givenBy === 'chat' ? seal : wrapSeal(from, after);
}

/** The seal in an entry. `member`: the kind of an unwrapped seal. */
export function readSeal(text: string, member: 'signature' | 'encrypted'): OpenedSeal {
  return unwrapSeal(text) ?? { [member]: text, givenBy: 'chat' };
}

/** Distinguishes the details that seal a tool call of the message from those of its thoughts. */
export function isSealOfCall(message: JsonObject): (detail: JsonObject) => boolean {
  const callIds = new Set(objectsAt(message, 'tool_calls').map((call) => textAt(call, 'id')));
  return (detail) => {
    const id = textAt(detail, 'id');
    return id !== undefined && callIds.has(id) && textAt(detail, 'data') !== undefined;
  };
}
