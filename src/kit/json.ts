/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. Keys such as `__proto__` are plain own keys here, because JSON.parse makes them so. */
export interface JsonObject {
  [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How deep brackets nest in JSON text, counted without parsing; stops counting above `limit`. */
export function nestingDepth(text: string, limit: number): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 34) {
      index = endOfString(text, index);
    } else if (code === 123 || code === 91) {
      depth++;
      if (depth > deepest) {
        deepest = depth;
        if (deepest > limit) return deepest;
      }
    } else if (code === 125 || code === 93) {
      depth--;
    }
  }
  return deepest;
}

/** Index of the closing quote of the string that opens at `open`, or the end of the text. */
function endOfString(text: string, open: number): number {
  let index = open;
  for (;;) {
    index = text.indexOf('"', index + 1);
    if (index === -1) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(index - 1 - backslashes) === 92) backslashes++;
    if (backslashes % 2 === 0) return index;
  }
}

/** The outcome of reading JSON that somebody else wrote. */
export type JsonReading = { ok: true; value: Json } | { ok: false; problem: string };

/** Nesting above this is refused: JSON.parse itself has no limit and neither have the recursive readers behind it. */
export const MAX_JSON_DEPTH = 64;

/** Parses JSON after checking its nesting. The problem never quotes the input. */
export function readJson(text: string, maxDepth: number = MAX_JSON_DEPTH): JsonReading {
  if (nestingDepth(text, maxDepth) > maxDepth) {
    return { ok: false, problem: `nested deeper than ${maxDepth} levels` };
  }
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch (error) {
    return { ok: false, problem: positionOf(error) };
  }
}

function positionOf(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? 'not valid JSON' : `not valid JSON at position ${position}`;
}
