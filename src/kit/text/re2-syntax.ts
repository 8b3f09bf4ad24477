import { closedUnderCase, type MergedRanges, mergedRanges, negatedRanges } from './code-ranges.ts';

/** A pattern that cannot be used. The message completes a sentence that begins with "the pattern". */
export class PatternProblem extends Error {}

/** A pattern in the syntax of RE2, and the approximate number of instructions it compiles to. */
export interface Re2Pattern {
  readonly text: string;
  readonly size: number;
  /** One of its alternatives is a repetition without an upper bound and nothing else, as in `(a+|b)`. */
  readonly isLoop?: boolean;
}

/** A translated pattern, with properties that its caller may refuse. */
export interface Translation extends Re2Pattern {
  /** A repetition without an upper bound is repeated without one, as in `(a+)+`. */
  readonly nestsLoops: boolean;
}

/** Nesting of groups: each level is a recursive call. */
const MAX_DEPTH = 50;
/** The largest count that RE2 takes in `{least,most}`. */
const MAX_REPEATS = 1000;
/** Instructions that a use of a Unicode property counts as: it has hundreds of ranges. */
const PROPERTY_SIZE = 16;
/** Properties that a pattern may name: RE2 makes a table for each. */
const MAX_PROPERTIES = 24;
/** Instructions that a character of a class counts as: RE2 finds it by binary search. */
const MEMBER_SIZE = 1 / 16;

/** Letters of all classes for which the other case is looked up, for each instruction that the pattern may have. */
const CASED_LETTERS = 32;
/** Code points that RE2 itself may look at, one by one, where case is ignored. */
const MAX_FOLDED_CODES = 20_000;
/** Characters of the translation that a range of a class, and a group, count as besides their own. */
const RANGE_CHARACTERS = 8;
const GROUP_CHARACTERS = 16;

const DIGIT: MergedRanges = Int32Array.of(0x30, 0x39);
const WORD: MergedRanges = Int32Array.of(0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a);
/** `WORD`, and the two letters that are equal to one of its letters if case is ignored. */
const WORD_IN_ANY_CASE = mergedRanges([...WORD, 0x17f, 0x17f, 0x212a, 0x212a]);
/** ECMAScript's white space: RE2's own `\s` is ASCII only. */
const SPACE = mergedRanges([
  ...[9, 13, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029],
  ...[0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff],
]);
/** ECMAScript's `.` stops at every line end, RE2's only at `\n`. */
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';
const ANY = '\\x{0}-\\x{10ffff}';

/** Escapes that stand for several characters, and the same where case is ignored. */
const CLASS_ESCAPES = classEscapes(WORD);
const CLASS_ESCAPES_IN_ANY_CASE = classEscapes(WORD_IN_ANY_CASE);

function classEscapes(word: MergedRanges): ReadonlyMap<string, MergedRanges> {
  return new Map([
    ['d', DIGIT],
    ['D', negatedRanges(DIGIT)],
    ['w', word],
    ['W', negatedRanges(word)],
    ['s', SPACE],
    ['S', negatedRanges(SPACE)],
  ]);
}

/** Escapes that stand for one character; any other escaped character stands for itself. */
const CHARACTER_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['f', '\f'],
  ['v', '\v'],
  ['0', '\0'],
]);

/** Prefixes of `\p{...}` whose value RE2 knows by itself. */
const PROPERTY_PREFIX = /^(?:Script|sc|General_Category|gc)=/;

/** One character, a set of them, or a Unicode property as RE2 writes it. */
type Member =
  | { readonly code: number }
  | { readonly ranges: MergedRanges; readonly size: number }
  | { readonly property: string; readonly size: number };

interface ClassMembers {
  /** Pairs of first and last, in any order. */
  readonly pairs: number[];
  readonly properties: string[];
}

export interface TranslationLimits {
  /** Approximate number of instructions. */
  readonly size: number;
  /** Characters of the translation, with some more for each range and group: RE2 takes time for each. */
  readonly translated: number;
}

/**
 * Translates a regular expression of ECMAScript (flag `u`) into the syntax of RE2; groups do not capture. Escapes of
 * plain letters and lone brackets are accepted as without the flag. Where case is ignored, classes are written with
 * letters of both cases: RE2 would look at each character of a class, which takes milliseconds for a large one.
 * Throws a PatternProblem for look-around, back-references, and patterns above the limits.
 */
export function toRe2(source: string, limits: TranslationLimits): Translation {
  return new Translator(source, limits).translate();
}

class Translator {
  readonly #source: string;
  readonly #limits: TranslationLimits;
  #at = 0;
  #depth = 0;
  #properties = 0;
  #translated = 0;
  #casedLetters = 0;
  #foldedCodes = 0;
  #ignoresCase = false;
  #nestsLoops = false;
  /** Sets with letters of both cases, by the code points of the set as written. */
  readonly #inAnyCase = new Map<string, MergedRanges>();

  constructor(source: string, limits: TranslationLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  translate(): Translation {
    const pattern = this.#alternatives();
    if (this.#at < this.#source.length) throw new PatternProblem('closes a group that is not open');
    return { ...pattern, nestsLoops: this.#nestsLoops };
  }

  #alternatives(): Re2Pattern {
    if (++this.#depth > MAX_DEPTH) throw new PatternProblem('nests too deeply');
    const options = [this.#sequence()];
    let size = options[0]?.size ?? 0;
    while (this.#take('|')) {
      const option = this.#sequence();
      options.push(option);
      size = this.#checked(size + option.size + 1);
    }
    this.#depth--;
    return {
      ...this.#sized(options.map(({ text }) => text).join('|'), size),
      isLoop: options.some(({ isLoop }) => isLoop === true),
    };
  }

  #sequence(): Re2Pattern {
    const parts: Re2Pattern[] = [];
    let size = 0;
    while (this.#at < this.#source.length && !'|)'.includes(this.#peek())) {
      const part = this.#repeated();
      parts.push(part);
      size = this.#checked(size + part.size);
    }
    const isLoop = parts.length === 1 && parts[0]?.isLoop === true;
    return { ...this.#sized(parts.map(({ text }) => text).join(''), size), isLoop };
  }

  #repeated(): Re2Pattern {
    const atom = this.#atom();
    const bounds = this.#bounds();
    if (bounds === undefined) return atom;
    const lazy = this.#take('?') ? '?' : '';
    const [least, most] = bounds;
    const isLoop = most === Number.POSITIVE_INFINITY;
    if (isLoop && atom.isLoop === true) this.#nestsLoops = true;
    const optional = isLoop ? 1 : most - least;
    const size = least * atom.size + optional * (atom.size + 1);
    return { ...this.#sized(`${atom.text}{${least},${isLoop ? '' : most}}${lazy}`, size), isLoop };
  }

  #atom(): Re2Pattern {
    const character = this.#next();
    switch (character) {
      case '^':
        return { text: '(?:\\A)', size: 1 };
      case '$':
        return { text: '(?:\\z)', size: 1 };
      case '.':
        return this.#written({ text: NO_LINE_END, size: 1 });
      case '[':
        return this.#characterClass();
      case '(':
        return this.#group();
      case '*':
      case '+':
      case '?':
        throw new PatternProblem('repeats nothing');
      case '\\':
        if (this.#take('b')) return { text: '(?:\\b)', size: 1 };
        if (this.#take('B')) return { text: '(?:\\B)', size: 1 };
        return this.#asAtom(this.#escape());
      default:
        return this.#asAtom(characterOf(character));
    }
  }

  #group(): Re2Pattern {
    this.#count(GROUP_CHARACTERS);
    const isCaseIgnored = this.#ignoresCase;
    const ignoresCase = this.#source.startsWith('?i:', this.#at);
    if (ignoresCase) {
      this.#at += '?i:'.length;
      this.#ignoresCase = true;
    } else if (this.#take('?') && !this.#take(':')) {
      const name = /^<[^=!>][^>]{0,99}>/.exec(this.#source.slice(this.#at, this.#at + 102))?.[0];
      if (name === undefined) throw new PatternProblem('uses lookaround or an unknown kind of group');
      this.#at += name.length;
    }
    const { text, ...rest } = this.#alternatives();
    if (!this.#take(')')) throw new PatternProblem('has a group that is not closed');
    this.#ignoresCase = isCaseIgnored;
    return { text: `(?${ignoresCase ? 'i' : ''}:${text})`, ...rest };
  }

  #characterClass(): Re2Pattern {
    const isNegated = this.#take('^');
    const members: ClassMembers = { pairs: [], properties: [] };
    let size = 1;
    while (!this.#take(']')) size = this.#checked(size + this.#addClassMember(members));
    return this.#classOf(members, isNegated, size);
  }

  #classOf({ pairs, properties }: ClassMembers, isNegated: boolean, size: number): Re2Pattern {
    const merged = mergedRanges(pairs);
    const named = properties.join('');
    if (properties.length === 0) return this.#setOf(this.#inCase(merged), isNegated, size);
    if (!this.#ignoresCase || pairs.length === 0) {
      return this.#written({ text: bracketed(`${this.#rangesText(merged)}${named}`, isNegated), size });
    }
    if (isNegated) {
      // A negation of both cannot be taken apart: RE2 looks for the letters of both cases itself.
      this.#countFolded(merged);
      return this.#written({ text: bracketed(`${this.#rangesText(merged)}${named}`, true), size });
    }
    const { text } = this.#setOf(this.#inCase(merged), false, size);
    return this.#written({ text: `(?:[${named}]|${text})`, size });
  }

  /** A class of characters that RE2 takes as it stands. */
  #setOf(ranges: MergedRanges, isNegated: boolean, size: number): Re2Pattern {
    if (ranges.length === 0) return this.#written({ text: bracketed(ANY, !isNegated), size });
    const text = bracketed(this.#rangesText(ranges), isNegated);
    return this.#written({ text: this.#ignoresCase ? `(?-i:${text})` : text, size });
  }

  #rangesText(ranges: MergedRanges): string {
    this.#count((ranges.length / 2) * RANGE_CHARACTERS);
    let text = '';
    for (let at = 0; at < ranges.length; at += 2) {
      const first = ranges[at] ?? 0;
      const last = ranges[at + 1] ?? 0;
      text += first === last ? written(first) : `${written(first)}-${written(last)}`;
    }
    return text;
  }

  /** A set; where case is ignored, with letters of both cases or of none. */
  #inCase(set: MergedRanges): MergedRanges {
    if (!this.#ignoresCase) return set;
    const key = set.join();
    const known = this.#inAnyCase.get(key);
    if (known !== undefined) return known;
    const { ranges, work } = closedUnderCase(set);
    this.#inAnyCase.set(key, ranges);
    this.#casedLetters += work;
    if (this.#casedLetters > CASED_LETTERS * this.#limits.size) throw new PatternProblem('is too large');
    return ranges;
  }

  #countFolded(ranges: MergedRanges): void {
    for (let at = 0; at < ranges.length; at += 2) {
      this.#foldedCodes += Math.min(ranges[at + 1] ?? 0, LAST_CASED) - (ranges[at] ?? 0);
    }
    if (this.#foldedCodes > MAX_FOLDED_CODES) throw new PatternProblem('is too large');
  }

  /**
   * Adds a character, a range, or an escape that stands for several; a hyphen beside one of those is a character.
   * Returns the size of what was added.
   */
  #addClassMember(members: ClassMembers): number {
    const from = this.#classCharacter();
    const isRange = 'code' in from && this.#peek() === '-' && this.#source[this.#at + 1] !== ']';
    if (!isRange) return addMember(members, from);
    this.#at++;
    const to = this.#classCharacter();
    if (!('code' in to))
      return addMember(members, from) + addMember(members, HYPHEN) + addMember(members, to);
    if (to.code < from.code) throw new PatternProblem('has a range that ends before it begins');
    members.pairs.push(from.code, to.code);
    return MEMBER_SIZE;
  }

  #classCharacter(): Member {
    const character = this.#next();
    if (character !== '\\') return characterOf(character);
    return this.#take('b') ? characterOf('\b') : this.#escape();
  }

  #escape(): Member {
    const character = this.#next();
    if (/[1-9kc]/.test(character)) throw new PatternProblem('refers back to a group');
    if (character === 'p' || character === 'P') return this.#property(character);
    if (character === 'u' || character === 'x') return { code: this.#codePoint(character) };
    const ranges = (this.#ignoresCase ? CLASS_ESCAPES_IN_ANY_CASE : CLASS_ESCAPES).get(character);
    if (ranges !== undefined) return { ranges, size: 1 };
    return characterOf(CHARACTER_ESCAPES.get(character) ?? character);
  }

  /** `\p{...}`: RE2 names scripts and categories by their value alone. */
  #property(letter: string): Member {
    const written = /^\{(\w{1,40}(?:=\w{1,40})?)\}/.exec(this.#source.slice(this.#at, this.#at + 84));
    const name = written?.[1] ?? '';
    if (written === null || !isProperty(name)) throw new PatternProblem('names an unknown property');
    if (++this.#properties > MAX_PROPERTIES) throw new PatternProblem('is too large');
    this.#at += written[0].length;
    return { property: `\\${letter}{${name.replace(PROPERTY_PREFIX, '')}}`, size: PROPERTY_SIZE };
  }

  /** `\x41`, `\u0041`, `\u{41}`, or a surrogate pair of two `\u` escapes. */
  #codePoint(kind: string): number {
    const form =
      kind === 'x'
        ? /^[\da-f]{2}/i
        : /^(?:d[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|[\da-f]{4}|\{[\da-f]{1,6}\})/i;
    const digits = form.exec(this.#source.slice(this.#at, this.#at + 10))?.[0];
    if (digits === undefined) throw new PatternProblem('has an escape without its digits');
    this.#at += digits.length;
    const [first = 0, second] = digits
      .split('\\u')
      .map((part) => Number.parseInt(part.replace(/[{}]/g, ''), 16));
    const code = second === undefined ? first : (String.fromCharCode(first, second).codePointAt(0) ?? 0);
    if (code > 0x10ffff) throw new PatternProblem('names a character that does not exist');
    return code;
  }

  /** Undefined if no repetition follows; a brace that begins no count is a character. */
  #bounds(): readonly [least: number, most: number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const match = /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#source.slice(this.#at, this.#at + 21));
    if (match === null) return undefined;
    this.#at += match[0].length;
    const least = Number(match[1]);
    const most = match[2] === undefined ? least : Number(match[3] ?? Number.POSITIVE_INFINITY);
    if (most < least) throw new PatternProblem('has a count that ends before it begins');
    if (least > MAX_REPEATS || (most > MAX_REPEATS && Number.isFinite(most)))
      throw new PatternProblem('is too large');
    return [least, most];
  }

  /** Refuses a part that is too large before its text is repeated: nested counts multiply. */
  #sized(text: string, size: number): Re2Pattern {
    return { text, size: this.#checked(size) };
  }

  /** Called while sizes add up: a huge pattern is not read to its end. */
  #checked(size: number): number {
    if (size > this.#limits.size) throw new PatternProblem('is too large');
    return size;
  }

  #asAtom(member: Member): Re2Pattern {
    if ('code' in member) return this.#written({ text: written(member.code), size: 1 });
    if ('property' in member) return this.#written({ text: `[${member.property}]`, size: member.size });
    return this.#setOf(member.ranges, false, member.size);
  }

  /** Counts the text of a part. Called for parts that hold no others, so that every character counts once. */
  #written(part: Re2Pattern): Re2Pattern {
    this.#count(part.text.length);
    return part;
  }

  #count(characters: number): void {
    this.#translated += characters;
    if (this.#translated > this.#limits.translated) throw new PatternProblem('is too large');
  }

  #peek(): string {
    return this.#source[this.#at] ?? '';
  }

  #next(): string {
    const code = this.#source.codePointAt(this.#at);
    if (code === undefined) throw new PatternProblem('ends too early');
    const character = String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }
}

const HYPHEN: Member = { code: 0x2d };

/** The last letter that has two cases. */
const LAST_CASED = 0x1e943;

function addMember({ pairs, properties }: ClassMembers, member: Member): number {
  if ('code' in member) {
    pairs.push(member.code, member.code);
    return MEMBER_SIZE;
  }
  if ('property' in member) properties.push(member.property);
  else for (const code of member.ranges) pairs.push(code);
  return member.size;
}

function characterOf(character: string): { readonly code: number } {
  return { code: character.codePointAt(0) ?? 0 };
}

function bracketed(members: string, isNegated: boolean): string {
  return `[${isNegated ? '^' : ''}${members}]`;
}

/** A code point as RE2 takes it everywhere. */
function written(code: number): string {
  const isPlain = code < 0x7b && /[0-9A-Za-z]/.test(String.fromCharCode(code));
  return isPlain ? String.fromCharCode(code) : `\\x{${code.toString(16)}}`;
}

function isProperty(name: string): boolean {
  try {
    new RegExp(`\\p{${name}}`, 'u');
    return true;
  } catch {
    return false;
  }
}
