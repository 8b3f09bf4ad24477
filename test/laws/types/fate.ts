import { isDeepStrictEqual } from 'node:util';
import type { TranslationEntry } from '../../../src/ir/metadata.ts';
import type { Json, JsonObject } from '../../../src/kit/json/json.ts';
import type { Received, Reply } from './lanes.ts';

/**
 * What becomes of something that a request or an answer says.
 *
 * - `passed`: it arrives as it was said.
 * - `carried`: something else arrives because of it.
 * - `dropped`: nothing arrives, and the translation report says so.
 * - `left out`: an answer is written anew, for another format or translated, and nothing of it arrives. Answers have
 *   no report.
 * - `refused`: the caller gets an error.
 * - `lost`: nothing arrives, and nothing says so.
 */
export const FATES = ['passed', 'carried', 'dropped', 'left out', 'refused', 'lost'] as const;

export type Fate = (typeof FATES)[number];

export interface Judged {
  readonly fate: Fate;
  /** Why it was refused: the status and the message. */
  readonly refusal?: string;
  /** True if the report says that something which it is part of was rewritten. */
  readonly isRewritten?: boolean;
  /** What the caller of an answer got. */
  readonly shown?: string;
  /** What it is part of, if that decided. */
  readonly sharedWith?: string | undefined;
}

/** How a refusal by the upstream's published types begins. */
export const REFUSED_BY_TYPE = "the upstream's type:";

/** The steps to a value inside a body. */
export type Steps = readonly (string | number)[];

/** Two requests that differ in what is judged. */
export interface Asked {
  readonly body: JsonObject;
  readonly without: JsonObject;
  readonly isRelay: boolean;
  /** Why the upstream would refuse a body, by its published types. */
  faultsIn(body: JsonObject): string | undefined;
}

/** The fate of what a request says; undefined if that takes an answer to the request without it. */
export function fateInRequest(
  { body, without, isRelay, faultsIn }: Asked,
  reply: Reply,
  other?: Reply,
): Judged | undefined {
  if (reply.status !== 200) return { fate: 'refused', refusal: refusalIn(reply) };
  const places = differences(body, without);
  const { received } = reply;
  // Null is how SDKs write a member that says nothing.
  if (places.every((place) => at(body, place) === null)) return { fate: 'passed' };
  if (received === undefined) throw new Error('an answer without an upstream');
  if (isRelay && places.every((place) => isEqualAt(body, received.body, place))) return { fate: 'passed' };
  const fault = isRelay ? undefined : faultsIn(received.body);
  if (fault !== undefined) return { fate: 'refused', refusal: `${REFUSED_BY_TYPE} ${fault}` };
  if (other === undefined) return undefined;
  if (other.received === undefined) return { fate: 'refused', refusal: `without it: ${refusalIn(other)}` };
  const entries = reportOf(reply);
  // What is compared with it may arrive: that is no news of it.
  if (places.every((place) => isGone(pathOf(place), entries))) return { fate: 'dropped' };
  if (!isDeepStrictEqual(readBy(received), readBy(other.received))) return { fate: 'carried' };
  const isReported = places.every((place) => isReportedAt(place, at(body, place) as Json, entries));
  if (isReported) return { fate: 'dropped' };
  const isRewritten = places.every((place) =>
    entries.some(({ field, action }) => action === 'coerced' && isBelow(pathOf(place), field)),
  );
  return { fate: 'lost', isRewritten };
}

/**
 * True if entries say that nothing arrives of a value: one about it, one about all that it is part of, or one about
 * each thing in it. That what it is part of was rewritten says nothing about it.
 */
function isReportedAt(place: Steps, value: Json | undefined, entries: readonly TranslationEntry[]): boolean {
  const path = pathOf(place);
  if (isGone(path, entries) || entries.some(({ field }) => field === path)) return true;
  if (typeof value !== 'object' || value === null) return false;
  const inner = Object.entries(value).filter(([name]) => name !== 'type');
  return (
    inner.length > 0 &&
    inner.every(([name, each]) =>
      isReportedAt([...place, Array.isArray(value) ? Number(name) : name], each, entries),
    )
  );
}

/** True if an entry says that a thing, or all that it is part of, does not arrive. */
function isGone(path: string, entries: readonly TranslationEntry[]): boolean {
  return entries.some(({ field, action }) => GONE.has(action) && isBelow(path, field));
}

/** What entries say of a thing of which nothing arrives. */
const GONE: ReadonlySet<TranslationEntry['action']> = new Set(['dropped', 'ignored']);

/** Where two bodies differ: the uppermost members and elements that are not equal. */
export function differences(one: Json | undefined, other: Json | undefined, steps: Steps = []): Steps[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.flatMap((value, index) => differences(value, other[index], [...steps, index]));
  }
  if (isObject(one) && isObject(other)) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
    return names.flatMap((name) => differences(one[name], other[name], [...steps, name]));
  }
  return [steps];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isEqualAt(one: unknown, other: unknown, place: Steps): boolean {
  return isDeepStrictEqual(at(one, place), at(other, place));
}

export function at(value: any, steps: Steps): unknown {
  return steps.reduce((inner, step) => inner?.[step], value);
}

/** A path as the translation report writes it. */
function pathOf(steps: Steps): string {
  return steps
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index > 0 ? '.' : ''}${step}`))
    .join('');
}

function isBelow(path: string, above: string): boolean {
  return path === above || path.startsWith(`${above}.`) || path.startsWith(`${above}[`);
}

/** What an upstream reads of a request: the body, and the headers of its API. */
function readBy({ body, headers }: Received): JsonObject {
  const { model: _, ...rest } = body;
  const own = Object.entries(headers).filter(([name]) => /^(anthropic|openai|x-goog|x-amzn)-/.test(name));
  return { body: rest, headers: Object.fromEntries(own) as JsonObject };
}

function reportOf({ text }: Reply): readonly TranslationEntry[] {
  return JSON.parse(text).signalbox_metadata?.translation ?? [];
}

export function refusalIn({ status, text }: Reply): string {
  const { error } = JSON.parse(text);
  return `${status} ${error.message}`;
}
