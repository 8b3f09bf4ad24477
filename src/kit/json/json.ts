import { type ExactNumbers, LEAST_LONG, TooManyLongNumbers } from './exact-numbers.ts';
import { type Excess, type JsonLimits, JsonScanner } from './json-scanner.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. Keys such as `__proto__` are plain own keys here, because JSON.parse makes them so. */
export interface JsonObject {
  [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Limits of JSON in requests. JSON.parse has none: an object with a million keys takes it seconds, and a list of a
 * million small objects a gigabyte.
 */
export const JSON_LIMITS: JsonLimits = { depth: 64, keys: 5_000, values: 200_000 };

export function findExcess(text: string, limits: JsonLimits): Excess | undefined {
  return new JsonScanner(limits).push(text);
}

/** The result of reading untrusted JSON. `path`: the top-level key with the fault, or empty. */
export type JsonReading = { ok: true; value: Json } | { ok: false; path: string; problem: string };

/** Parses JSON within limits. The problem never quotes the input. `numbers`: keeps the digits of long numbers. */
export function readJson(
  text: string,
  limits: JsonLimits = JSON_LIMITS,
  numbers?: ExactNumbers,
): JsonReading {
  if (isShort(text, limits)) {
    const value = parsedOrUndefined(numbers?.read(text) ?? text);
    const most = numbers?.isExpecting === false ? LEAST_LONG : Number.POSITIVE_INFINITY;
    if (value !== undefined && isPlain(value, limits.depth, most)) return { ok: true, value };
  }
  return readScanned(text, limits, numbers);
}

/** Characters of the shortest member of an object, its comma included: `"":0,`. */
const MIN_MEMBER_CHARACTERS = 5;

/**
 * JSON that is too short for too many keys or values can only be too deep, and the depth of a parsed value is found in
 * a fraction of the time that scanning the text takes.
 */
function isShort({ length }: string, { keys, values }: JsonLimits): boolean {
  return length <= keys * MIN_MEMBER_CHARACTERS && length <= values;
}

function parsedOrUndefined(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** True for a value that is not nested too deep, and has no number beyond `most`. */
function isPlain(value: Json | undefined, levels: number, most: number): boolean {
  if (typeof value === 'number') return value <= most && value >= -most;
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const member of value) if (!isPlain(member, levels - 1, most)) return false;
    return true;
  }
  for (const key in value) if (!isPlain(value[key], levels - 1, most)) return false;
  return true;
}

/** Reads text that is long or faulty, or has long numbers: scans it first. */
function readScanned(text: string, limits: JsonLimits, numbers: ExactNumbers | undefined): JsonReading {
  const excess = findExcess(text, limits);
  if (excess !== undefined) return { ok: false, ...excess };
  let read = text;
  try {
    if (numbers !== undefined) read = numbers.readLong(text);
    return { ok: true, value: JSON.parse(read) as Json };
  } catch (error) {
    if (error instanceof TooManyLongNumbers) return { ok: false, path: '', problem: error.message };
    // Positions are those of the text that came.
    return { ok: false, path: '', problem: read === text ? positionOf(error) : 'not valid JSON' };
  }
}

function positionOf(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? 'not valid JSON' : `not valid JSON at position ${position}`;
}
