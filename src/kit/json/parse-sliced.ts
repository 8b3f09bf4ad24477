import type { Sliced } from '../loop/turns.ts';
import type { Json, JsonObject } from './json.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  closingQuote,
  isEscaped,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-scanner.ts';
import { define } from './members.ts';

/** JSON text that cannot be parsed. `position`: the first wrong character; undefined if the text ends too early. */
export class JsonProblem extends Error {
  readonly position: number | undefined;

  constructor(position: number | undefined) {
    super('not valid JSON');
    this.name = 'JsonProblem';
    this.position = position;
  }
}

/** Sizes of slices, in characters. */
export interface ParseSlices {
  /** Members of a large container that are parsed together. */
  readonly members: number;
  /** A string that is not parsed together with others, and the pieces it is read in. */
  readonly string: number;
}

const SLICES: ParseSlices = { members: 16 * 1024, string: 256 * 1024 };

/**
 * Parses JSON like JSON.parse, but in slices: large objects and lists a few members at a time, long strings a piece at
 * a time. `large`: indexes where large containers open, and where they close. Throws a JsonProblem.
 */
export function* parseSliced(
  text: string,
  large: ReadonlyMap<number, number>,
  slices: ParseSlices = SLICES,
): Sliced<Json> {
  const open = skipBlanks(text, 0);
  const close = large.get(open);
  if (close === undefined) return parse(text, 0, text.length, '', '');
  const value = yield* new LargeContainer({ text, large, slices }, open, close).read();
  const after = skipBlanks(text, close + 1);
  if (after < text.length) throw new JsonProblem(after);
  return value;
}

interface Source {
  readonly text: string;
  readonly large: ReadonlyMap<number, number>;
  readonly slices: ParseSlices;
}

class LargeContainer {
  readonly #source: Source;
  readonly #close: number;
  readonly #isList: boolean;
  readonly #list: Json[] = [];
  readonly #object: JsonObject = {};
  /** Where the members that are not parsed yet begin, and where the last of them begins. */
  #from: number;
  #member: number;

  constructor(source: Source, open: number, close: number) {
    this.#source = source;
    this.#close = close;
    this.#isList = source.text[open] === '[';
    this.#from = open + 1;
    this.#member = open + 1;
    if (source.text[close] !== (this.#isList ? ']' : '}')) throw new JsonProblem(close);
  }

  *read(): Sliced<Json> {
    const { text, slices } = this.#source;
    let depth = 0;
    let index = this.#from;
    while (index < this.#close) {
      switch (text.charCodeAt(index)) {
        case QUOTE: {
          const end = closingQuote(text, index + 1) ?? text.length;
          if (depth === 0 && end - index > slices.string && !this.#isKey(end)) {
            this.#addParsed(index, yield* readString(text, index + 1, end, slices.string));
            index = this.#nextMember(end + 1);
          } else {
            index = end + 1;
          }
          break;
        }
        case OPEN_BRACE:
        case OPEN_BRACKET: {
          const close = depth === 0 ? this.#source.large.get(index) : undefined;
          if (close !== undefined) {
            this.#addParsed(index, yield* new LargeContainer(this.#source, index, close).read());
            index = this.#nextMember(close + 1);
          } else {
            depth++;
            index++;
          }
          break;
        }
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          depth--;
          index++;
          break;
        case COMMA:
          index++;
          if (depth > 0) break;
          this.#member = index;
          if (index - this.#from > slices.members) {
            this.#addMembers(index - 1);
            this.#from = index;
            yield;
          }
          break;
        default:
          index++;
      }
    }
    if (this.#from <= this.#close) this.#addMembers(this.#close);
    yield;
    return this.#isList ? this.#list : this.#object;
  }

  #isKey(end: number): boolean {
    return !this.#isList && this.#source.text.charCodeAt(skipBlanks(this.#source.text, end + 1)) === COLON;
  }

  /** Parses and adds the members from `#from` to `to`. There must be at least one, unless the container is empty. */
  #addMembers(to: number): void {
    const { text } = this.#source;
    const from = this.#from;
    const isAll = text[from - 1] !== ',' && to === this.#close;
    if (!isAll && skipBlanks(text, from) >= to) throw new JsonProblem(to);
    if (this.#isList) {
      for (const value of parse(text, from, to, '[', ']') as Json[]) this.#list.push(value);
    } else {
      const members = parse(text, from, to, '{', '}') as JsonObject;
      for (const key of Object.keys(members)) define(this.#object, key, members[key] as Json);
    }
  }

  /** Adds the member whose parsed value begins at `index`, after all members before it. */
  #addParsed(index: number, value: Json): void {
    const { text } = this.#source;
    if (this.#member > this.#from) this.#addMembers(this.#member - 1);
    if (this.#isList) {
      const start = skipBlanks(text, this.#member);
      if (start !== index) throw new JsonProblem(start);
      this.#list.push(value);
    } else {
      const [key] = Object.keys(parse(text, this.#member, index, '{', 'null}') as JsonObject);
      if (key === undefined) throw new JsonProblem(index);
      define(this.#object, key, value);
    }
  }

  /** Continues after an added member: returns where the next one begins, or a position after the end. */
  #nextMember(end: number): number {
    const { text } = this.#source;
    const next = skipBlanks(text, end);
    if (next !== this.#close && text.charCodeAt(next) !== COMMA) throw new JsonProblem(next);
    this.#from = next + 1;
    this.#member = next + 1;
    return next + 1;
  }
}

function* readString(text: string, start: number, end: number, slice: number): Sliced<string> {
  const pieces: string[] = [];
  for (let from = start; from < end; ) {
    const to = from + slice < end ? cutBefore(text, from + slice, from) : end;
    pieces.push(parse(text, from, to, '"', '"') as string);
    from = to;
    yield;
  }
  return pieces.join('');
}

/** Characters of the longest escape sequence: `\u00e4`. */
const MAX_ESCAPE_CHARACTERS = 6;

/** The last place up to `at` that is not inside an escape sequence; `start` is not inside one either. */
function cutBefore(text: string, at: number, start: number): number {
  for (let index = at - 1; index > at - MAX_ESCAPE_CHARACTERS && index > start; index--) {
    if (text.charCodeAt(index) !== BACKSLASH || isEscaped(text, index, start)) continue;
    const length = text[index + 1] === 'u' ? MAX_ESCAPE_CHARACTERS : 2;
    return index + length > at ? index : at;
  }
  return at;
}

/** Parses a part of the text between `before` and `after`, which make it complete JSON. */
function parse(text: string, from: number, to: number, before: string, after: string): Json {
  try {
    return JSON.parse(`${before}${text.slice(from, to)}${after}`) as Json;
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    throw new JsonProblem(position === undefined ? undefined : from + Number(position) - before.length);
  }
}

function skipBlanks(text: string, from: number): number {
  let index = from;
  while (BLANKS.has(text.charCodeAt(index))) index++;
  return index;
}

const BLANKS: ReadonlySet<number> = new Set([9, 10, 13, 32]);
