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

/** ECMAScript's white space: RE2's own `\s` is ASCII only. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** ECMAScript's `.` stops at every line end, RE2's only at `\n`. */
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';
const ANY = '\\x{0}-\\x{10ffff}';

/** Escapes that stand for several characters, as members of a class. */
const CLASS_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['d', '\\d'],
  ['D', '\\D'],
  ['w', '\\w'],
  ['W', '\\W'],
  ['s', SPACE],
  ['S', NO_SPACE],
]);

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

/** One character, or several as members of a class. */
type Member = { readonly code: number } | { readonly members: string; readonly size: number };

/**
 * Translates a regular expression of ECMAScript (flag `u`) into the syntax of RE2; groups do not capture. Escapes of
 * plain letters and lone brackets are accepted as without the flag.
 * Throws a PatternProblem for look-around, back-references, and patterns of more than `maxSize` instructions.
 */
export function toRe2(source: string, maxSize: number): Translation {
  return new Translator(source, maxSize).translate();
}

class Translator {
  readonly #source: string;
  readonly #maxSize: number;
  #at = 0;
  #depth = 0;
  #properties = 0;
  #nestsLoops = false;

  constructor(source: string, maxSize: number) {
    this.#source = source;
    this.#maxSize = maxSize;
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
        return { text: NO_LINE_END, size: 1 };
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
        return asAtom(this.#escape());
      default:
        return asAtom(characterOf(character));
    }
  }

  #group(): Re2Pattern {
    const ignoresCase = this.#source.startsWith('?i:', this.#at);
    if (ignoresCase) this.#at += '?i:'.length;
    else if (this.#take('?') && !this.#take(':')) {
      const name = /^<[^=!>][^>]{0,99}>/.exec(this.#source.slice(this.#at, this.#at + 102))?.[0];
      if (name === undefined) throw new PatternProblem('uses lookaround or an unknown kind of group');
      this.#at += name.length;
    }
    const { text, ...rest } = this.#alternatives();
    if (!this.#take(')')) throw new PatternProblem('has a group that is not closed');
    return { text: `(?${ignoresCase ? 'i' : ''}:${text})`, ...rest };
  }

  #characterClass(): Re2Pattern {
    const isNegated = this.#take('^');
    const members: string[] = [];
    let size = 1;
    while (!this.#take(']')) {
      const member = this.#classMember();
      members.push(member.members);
      size += member.size;
    }
    if (members.length === 0) return { text: isNegated ? `[${ANY}]` : `[^${ANY}]`, size };
    return this.#sized(`[${isNegated ? '^' : ''}${members.join('')}]`, size);
  }

  /** A character, a range, or an escape that stands for several; a hyphen beside one of those is a character. */
  #classMember(): { readonly members: string; readonly size: number } {
    const from = this.#classCharacter();
    const isRange = 'code' in from && this.#peek() === '-' && this.#source[this.#at + 1] !== ']';
    if (!isRange) return 'code' in from ? { members: hexOf(from.code), size: MEMBER_SIZE } : from;
    this.#at++;
    const to = this.#classCharacter();
    if (!('code' in to)) {
      return { members: `${hexOf(from.code)}\\-${to.members}`, size: to.size + MEMBER_SIZE };
    }
    if (to.code < from.code) throw new PatternProblem('has a range that ends before it begins');
    return { members: `${hexOf(from.code)}-${hexOf(to.code)}`, size: MEMBER_SIZE };
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
    const members = CLASS_ESCAPES.get(character);
    if (members !== undefined) return { members, size: 1 };
    return characterOf(CHARACTER_ESCAPES.get(character) ?? character);
  }

  /** `\p{...}`: RE2 names scripts and categories by their value alone. */
  #property(letter: string): Member {
    const written = /^\{(\w{1,40}(?:=\w{1,40})?)\}/.exec(this.#source.slice(this.#at, this.#at + 84));
    const name = written?.[1] ?? '';
    if (written === null || !isProperty(name)) throw new PatternProblem('names an unknown property');
    if (++this.#properties > MAX_PROPERTIES) throw new PatternProblem('is too large');
    this.#at += written[0].length;
    return { members: `\\${letter}{${name.replace(PROPERTY_PREFIX, '')}}`, size: PROPERTY_SIZE };
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
    if (size > this.#maxSize) throw new PatternProblem('is too large');
    return size;
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
function characterOf(character: string): { readonly code: number } {
  return { code: character.codePointAt(0) ?? 0 };
}

function asAtom(member: Member): Re2Pattern {
  if ('code' in member) return { text: hexOf(member.code), size: 1 };
  const { members, size } = member;
  // Where case is ignored, RE2 looks at each character of a class before it negates it: a million in NO_SPACE.
  return { text: members === NO_SPACE ? `[^${SPACE}]` : `[${members}]`, size };
}

function hexOf(code: number): string {
  return `\\x{${code.toString(16)}}`;
}

function isProperty(name: string): boolean {
  try {
    new RegExp(`\\p{${name}}`, 'u');
    return true;
  } catch {
    return false;
  }
}
