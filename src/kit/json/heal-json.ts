import { jsonrepair } from 'jsonrepair';
import { findExcess, JSON_LIMITS, type Json } from './json.ts';

/** Characters of a text that is healed: a longer one is left unchanged, so that no other request waits for it. */
const MAX_HEALED_CHARACTERS = 32_768;

/** JSON in a code fence, anywhere in the text. */
const FENCE = /```[a-zA-Z]*[ \t]*\r?\n([\s\S]*?)```/;

/**
 * Extracts and repairs JSON; undefined if already valid or not repairable. Removes code fences and words around it.
 */
export function healJson(text: string, isRight: (value: Json) => boolean): string | undefined {
  if (text.length > MAX_HEALED_CHARACTERS) return undefined;
  const whole = parsed(text);
  if (whole !== undefined && isRight(whole)) return undefined;
  for (const candidate of candidatesIn(text)) {
    for (const read of [asWritten, repaired]) {
      const healed = read(candidate);
      const value = healed === undefined ? undefined : parsed(healed);
      if (healed !== undefined && value !== undefined && isRight(value)) return healed;
    }
  }
  return undefined;
}

/** Candidates, the narrowest first: inside a fence, between brackets, the whole text. */
function* candidatesIn(text: string): Generator<string> {
  const fenced = FENCE.exec(text)?.[1];
  if (fenced !== undefined) yield fenced.trim();
  const begin = text.search(/[{[]/);
  if (begin === -1) return;
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (end > begin) yield text.slice(begin, end + 1);
  // Brackets that were never closed.
  yield text.slice(begin).trim();
}

const asWritten = (text: string): string => text;

function repaired(text: string): string | undefined {
  try {
    return jsonrepair(text);
  } catch {
    return undefined;
  }
}

/** Undefined for invalid JSON, and for JSON that is nested more deeply than a request may be. */
function parsed(text: string): Json | undefined {
  if (findExcess(text, JSON_LIMITS) !== undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
