/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. Keys such as `__proto__` are plain own keys here, because JSON.parse makes them so. */
export interface JsonObject {
  [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What JSON that somebody else wrote may hold. */
export interface JsonLimits {
  /** Levels of nesting. */
  readonly depth: number;
  /** Keys of one object. */
  readonly keys: number;
  /** Values in all: members of objects and of lists. */
  readonly values: number;
}

/**
 * JSON.parse limits nothing, and neither do the readers behind it: an object with a million keys takes it seconds, and a
 * list of a million small objects takes a gigabyte.
 */
export const JSON_LIMITS: JsonLimits = { depth: 64, keys: 5_000, values: 200_000 };

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Where JSON text breaks a limit, found without parsing it: the top-level key it stands under, and what is wrong. */
export function findExcess(text: string, limits: JsonLimits): { path: string; problem: string } | undefined {
  /** Keys so far of each open container; lists have none. */
  const keys: number[] = [];
  let values = 0;
  let lastString: [start: number, end: number] = [0, 0];
  let topLevelKey = '';
  const excess = (problem: string) => ({ path: topLevelKey, problem });
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfString(text, index);
        lastString = [index, end];
        index = end;
        break;
      }
      case COLON: {
        const depth = keys.length - 1;
        const count = (keys[depth] ?? 0) + 1;
        keys[depth] = count;
        if (count > limits.keys) {
          if (depth === 0) topLevelKey = '';
          return excess(`an object has more than ${limits.keys} keys`);
        }
        if (depth === 0) topLevelKey = plainKey(text.slice(lastString[0] + 1, lastString[1]));
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        keys.push(0);
        if (keys.length > limits.depth) return excess(`nested deeper than ${limits.depth} levels`);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        keys.pop();
        break;
      case COMMA:
        values++;
        if (values > limits.values) return excess(`holds more than ${limits.values} values`);
        if (keys.length === 1) topLevelKey = '';
        break;
    }
  }
  return undefined;
}

/** A key that can be shown as a path; anything else is not. */
function plainKey(key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? key : '';
}

/** Index of the closing quote of the string that opens at `open`, or the end of the text. */
function endOfString(text: string, open: number): number {
  let index = open;
  for (;;) {
    index = text.indexOf('"', index + 1);
    if (index === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return index;
  }
}

/** The outcome of reading JSON that somebody else wrote. `path`: the top-level key that is to blame, or empty. */
export type JsonReading = { ok: true; value: Json } | { ok: false; path: string; problem: string };

/** Parses JSON after checking its limits. The problem never quotes the input. */
export function readJson(text: string, limits: JsonLimits = JSON_LIMITS): JsonReading {
  const excess = findExcess(text, limits);
  if (excess !== undefined) return { ok: false, ...excess };
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, path: '', problem: positionOf(error) };
  }
}

function positionOf(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? 'not valid JSON' : `not valid JSON at position ${position}`;
}
