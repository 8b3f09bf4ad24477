import { isDeepStrictEqual } from 'node:util';
import type { TranslationEntry } from '../../src/ir/metadata.ts';
import type { Json, JsonObject } from '../../src/kit/json/json.ts';
import type { Received, Reply } from './lanes.ts';

/**
 * What becomes of something that a request or an answer says.
 *
 * - `passed`: it arrives as it was said.
 * - `carried`: something else arrives because of it.
 * - `dropped`: nothing arrives, and the translation report says so.
 * - `left out`: an answer is for a caller of another format, in which nothing of it arrives. Answers have no report.
 * - `refused`: the caller gets an error.
 * - `lost`: nothing arrives, and nothing says so.
 */
export const FATES = ['passed', 'carried', 'dropped', 'left out', 'refused', 'lost'] as const;

export type Fate = (typeof FATES)[number];

export interface Judged {
  readonly fate: Fate;
  /** Why it was refused: the status and the message. */
  readonly refusal?: string;
  /** What it is part of, if that decided. */
  readonly sharedWith?: string | undefined;
}

/** The steps to a value inside a body. */
export type Steps = readonly (string | number)[];

/** Two requests that differ in what is judged. */
export interface Asked {
  readonly body: JsonObject;
  readonly without: JsonObject;
  readonly isRelay: boolean;
}

/** The fate of what a request says; undefined if that takes an answer to the request without it. */
export function fateInRequest(
  { body, without, isRelay }: Asked,
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
  if (other === undefined) return undefined;
  if (other.received === undefined) return { fate: 'refused', refusal: `without it: ${refusalIn(other)}` };
  if (!isDeepStrictEqual(readBy(received), readBy(other.received))) {
    return { fate: 'carried' };
  }
  const isReported = reportOf(reply).some(({ field }) =>
    places.some((place) => concerns(field, pathOf(place))),
  );
  return { fate: isReported ? 'dropped' : 'lost' };
}

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

/** True if an entry is about a place, about something in it, or about all that it is part of. */
function concerns(field: string, place: string): boolean {
  return isBelow(field, place) || isBelow(place, field);
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
