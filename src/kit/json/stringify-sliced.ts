import { runInTurns, type Sliced } from '../loop/turns.ts';
import { type ExactNumbers, stringifyExactly } from './exact-numbers.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { define } from './members.ts';

const SLICE_CHARACTERS = 64 * 1024;

/**
 * Writes JSON like JSON.stringify, but in slices: a few members or a piece of a string at a time. Returns the text in
 * pieces; a small value is one piece.
 */
export function* stringifySliced(value: Json, slice = SLICE_CHARACTERS): Sliced<string[]> {
  if (weightOf(value, slice) <= slice) return [JSON.stringify(value)];
  const pieces: string[] = [];
  yield* write(value, pieces, slice);
  return pieces;
}

/**
 * The JSON of a value: text, at once, if it is small; else bytes, written in slices in separate turns of the event
 * loop. `numbers`: long numbers whose digits are kept.
 */
export function writeJson(value: Json, numbers?: ExactNumbers): string | Promise<Uint8Array> {
  return weightOf(value, SLICE_CHARACTERS) <= SLICE_CHARACTERS
    ? stringifyExactly(value, numbers)
    : runInTurns(writeLarge(value, numbers));
}

function* writeLarge(value: Json, numbers: ExactNumbers | undefined): Sliced<Uint8Array> {
  const pieces = yield* stringifySliced(value);
  const hasNumbers = numbers !== undefined && !numbers.isEmpty;
  return yield* encodeSliced(hasNumbers ? [yield* numbers.writeSliced(pieces.join(''))] : pieces);
}

/** Approximate number of characters that are encoded at once. */
const ENCODED_AT_ONCE = 256 * 1024;

/** Encodes pieces of text in slices, directly into one buffer. */
export function* encodeSliced(pieces: readonly string[]): Sliced<Buffer> {
  const sizes: number[] = [];
  let length = 0;
  let unbroken = 0;
  for (const piece of pieces) {
    const size = Buffer.byteLength(piece);
    sizes.push(size);
    length += size;
    unbroken += piece.length;
    if (unbroken <= ENCODED_AT_ONCE) continue;
    unbroken = 0;
    yield;
  }
  const whole = Buffer.allocUnsafeSlow(length);
  let end = 0;
  for (const [index, piece] of pieces.entries()) {
    // If every character takes one byte, `latin1` gives the same bytes faster.
    end += whole.write(piece, end, sizes[index] === piece.length ? 'latin1' : 'utf8');
    unbroken += piece.length;
    if (unbroken <= ENCODED_AT_ONCE) continue;
    unbroken = 0;
    yield;
  }
  return whole;
}

function* write(value: Json, pieces: string[], slice: number): Sliced<void> {
  if (weightOf(value, slice) <= slice) pieces.push(JSON.stringify(value));
  else if (typeof value === 'string') yield* writeString(value, pieces, slice);
  else if (Array.isArray(value)) yield* writeList(value, pieces, slice);
  else if (isJsonObject(value)) yield* writeObject(value, pieces, slice);
  else pieces.push(JSON.stringify(value));
}

function* writeList(list: readonly Json[], pieces: string[], slice: number): Sliced<void> {
  let separator = '[';
  let group: Json[] = [];
  let weight = 0;
  for (const member of list) {
    const own = weightOf(member, slice);
    if (weight + own > slice && group.length > 0) {
      pieces.push(separator + inner(group));
      separator = ',';
      group = [];
      weight = 0;
      yield;
    }
    if (own > slice) {
      pieces.push(separator);
      separator = ',';
      yield* write(member, pieces, slice);
    } else {
      group.push(member);
      weight += own;
    }
  }
  const isLast = group.length > 0 || separator === '[';
  pieces.push(isLast ? `${separator + inner(group)}]` : ']');
}

function* writeObject(object: JsonObject, pieces: string[], slice: number): Sliced<void> {
  let separator = '{';
  let group: JsonObject = {};
  let weight = 0;
  for (const key of Object.keys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    const own = weightOf(member, slice) + key.length;
    if (weight + own > slice && weight > 0) {
      pieces.push(separator + inner(group));
      separator = ',';
      group = {};
      weight = 0;
      yield;
    }
    if (own > slice) {
      pieces.push(`${separator}${JSON.stringify(key)}:`);
      separator = ',';
      yield* write(member, pieces, slice);
    } else {
      define(group, key, member);
      weight += own;
    }
  }
  const isLast = weight > 0 || separator === '{';
  pieces.push(isLast ? `${separator + inner(group)}}` : '}');
}

/** JSON without its enclosing brackets, braces or quotes. */
function inner(group: Json): string {
  return JSON.stringify(group).slice(1, -1);
}

function* writeString(text: string, pieces: string[], slice: number): Sliced<void> {
  pieces.push('"');
  for (let from = 0; from < text.length; ) {
    const at = from + slice;
    // JSON.stringify would write half a surrogate pair as an escape.
    const to = isHighSurrogate(text.charCodeAt(at - 1)) ? at + 1 : at;
    pieces.push(inner(text.slice(from, to)));
    from = to;
    yield;
  }
  pieces.push('"');
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Approximate number of characters of a number, boolean or null. */
const SCALAR_WEIGHT = 8;

/** Approximate number of characters of a value, at least one; counting stops above `most`. */
export function weightOf(value: Json | undefined, most: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return SCALAR_WEIGHT;
  let weight = 2;
  if (Array.isArray(value)) {
    for (const member of value) {
      if (weight > most) return weight;
      weight += weightOf(member, most);
    }
    return weight;
  }
  for (const key in value) {
    if (weight > most) return weight;
    weight += key.length + weightOf(value[key], most);
  }
  return weight;
}
