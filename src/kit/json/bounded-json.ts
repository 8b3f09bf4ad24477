import type { Json, JsonObject } from './json.ts';
import { define } from './members.ts';

export interface JsonBounds {
  /** Characters of each string. */
  readonly characters: number;
  /** Entries of each list, members of each object. */
  readonly entries: number;
  readonly depth: number;
}

/**
 * The value itself if it is within bounds, else a copy with strings, lists and objects cut; too deep values are null.
 */
export function boundedJson(value: Json, bounds: JsonBounds): Json {
  return isWithin(value, bounds, bounds.depth) ? value : cutJson(value, bounds);
}

function isWithin(value: Json | undefined, bounds: JsonBounds, depth: number): boolean {
  if (typeof value === 'string') return value.length <= bounds.characters;
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    if (value.length > bounds.entries) return false;
    for (const entry of value) if (!isWithin(entry, bounds, depth - 1)) return false;
    return true;
  }
  let members = 0;
  for (const name in value) {
    members += 1;
    if (members > bounds.entries || name.length > bounds.characters) return false;
    if (!isWithin(value[name], bounds, depth - 1)) return false;
  }
  return true;
}

function cutJson(value: Json, bounds: JsonBounds): Json {
  if (typeof value === 'string') return boundedText(value, bounds.characters);
  if (typeof value !== 'object' || value === null) return value;
  if (bounds.depth === 0) return null;
  const inside = { ...bounds, depth: bounds.depth - 1 };
  if (Array.isArray(value)) return value.slice(0, bounds.entries).map((entry) => cutJson(entry, inside));
  const copy: JsonObject = {};
  for (const [name, member] of Object.entries(value).slice(0, bounds.entries)) {
    if (member !== undefined) define(copy, boundedText(name, bounds.characters), cutJson(member, inside));
  }
  return copy;
}

/** The beginning of a text, without half a surrogate pair at its end. */
export function boundedText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const isInsideCharacter = /[\ud800-\udbff]/.test(text.charAt(characters - 1));
  return text.slice(0, isInsideCharacter ? characters - 1 : characters);
}
