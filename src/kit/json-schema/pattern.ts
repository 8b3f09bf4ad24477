import { lookUp } from '../net/lookup.ts';
import type { Budget } from './budget.ts';

/** A regular expression, taken apart. */
export type Pattern =
  /** One character: those it may be, and the one that is written for it. */
  | {
      readonly kind: 'character';
      readonly written: string;
      readonly matches: (character: string) => boolean;
      /** How much there is to compare a character with. */
      readonly size: number;
    }
  /** A place between two characters; undefined is beyond the end. */
  | {
      readonly kind: 'place';
      readonly holds: (before: string | undefined, after: string | undefined) => boolean;
    }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly [Pattern, ...Pattern[]] }
  | { readonly kind: 'repeat'; readonly part: Pattern; readonly least: number; readonly most: number };

/**
 * Takes a regular expression apart without ever running it: patterns come from callers, and running them could take for
 * ever. Knows what patterns in schemas use: literals, classes, groups, alternatives, repetitions and anchors. Undefined
 * for what looks around or back, for what is not well formed, and for what is beyond the budget.
 */
export function parsePattern(text: string, budget: Budget): Pattern | undefined {
  const { patterns } = budget;
  if (!patterns.has(text)) patterns.set(text, parsed(text, budget));
  return patterns.get(text);
}

function parsed(text: string, budget: Budget): Pattern | undefined {
  budget.steps -= text.length * CHARACTER_STEPS;
  if (budget.steps < 0) return undefined;
  try {
    return new Parser(text, budget).parse();
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

/** Steps for a character of a pattern, which becomes an object and a function. */
const CHARACTER_STEPS = 2;
/** Steps for a Unicode property, which the engine makes a large table for. */
const PROPERTY_STEPS = 1000;

/** No pattern nests deeper. */
const MOST_DEPTH = 50;

/** Characters to choose from where a pattern says only what kind it wants. */
const CANDIDATES = ['a', 'A', '1', '-', '_', ' ', '.', 'z', 'é', '+', '\n', 'Я', '中', '€'];

/** Escapes that stand for one character; any other escaped character stands for itself. */
const LITERAL_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  f: '\f',
  v: '\v',
  '0': '\0',
};

/** Escapes that stand for one of several characters. */
const CLASS_ESCAPES: Readonly<Record<string, RegExp>> = {
  d: /\d/,
  D: /\D/,
  w: /\w/,
  W: /\W/,
  s: /\s/,
  S: /\S/,
};

/** Escapes that mean something we do not know. */
const UNKNOWN_ESCAPES = /[1-9kc]/;

const START: Pattern = { kind: 'place', holds: (before) => before === undefined };
const END: Pattern = { kind: 'place', holds: (_before, after) => after === undefined };
const BOUNDARY: Pattern = { kind: 'place', holds: (before, after) => isWord(before) !== isWord(after) };
const NO_BOUNDARY: Pattern = { kind: 'place', holds: (before, after) => isWord(before) === isWord(after) };

function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}

class Unsupported extends Error {}

type CharacterPattern = Extract<Pattern, { kind: 'character' }>;

function literal(character: string): CharacterPattern {
  return { kind: 'character', written: character, matches: (other) => other === character, size: 1 };
}

/** A character of a kind, written as the first candidate that is of it. */
function anyOf(matches: (character: string) => boolean, size = 1): CharacterPattern {
  const written = CANDIDATES.find(matches);
  if (written === undefined) throw new Unsupported();
  return { kind: 'character', written, matches, size };
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  readonly #budget: Budget;

  constructor(text: string, budget: Budget) {
    this.#text = text;
    this.#budget = budget;
  }

  parse(): Pattern {
    const pattern = this.#alternatives();
    if (this.#at !== this.#text.length) throw new Unsupported();
    return pattern;
  }

  #alternatives(): Pattern {
    if (++this.#depth > MOST_DEPTH) throw new Unsupported();
    const options: [Pattern, ...Pattern[]] = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth--;
    return { kind: 'choice', options };
  }

  #sequence(): Pattern {
    const parts: Pattern[] = [];
    while (this.#at < this.#text.length && !'|)'.includes(this.#peek())) parts.push(this.#repeated());
    return { kind: 'sequence', parts };
  }

  #repeated(): Pattern {
    const part = this.#atom();
    const [least, most] = this.#bounds();
    this.#take('?');
    return least === 1 && most === 1 ? part : { kind: 'repeat', part, least, most };
  }

  #atom(): Pattern {
    const character = this.#next();
    switch (character) {
      case '^':
        return START;
      case '$':
        return END;
      case '.':
        return anyOf((other) => !/[\n\r\u2028\u2029]/.test(other));
      case '[':
        return this.#characterClass();
      case '(':
        return this.#group();
      case '\\':
        if (this.#take('b')) return BOUNDARY;
        return this.#take('B') ? NO_BOUNDARY : this.#escape();
      default:
        return literal(character);
    }
  }

  #group(): Pattern {
    if (this.#take('?')) {
      const isNamed = this.#peek() === '<' && !'=!'.includes(this.#text[this.#at + 1] ?? '=');
      if (isNamed) this.#at = this.#indexOf('>') + 1;
      else if (!this.#take(':')) throw new Unsupported();
    }
    const pattern = this.#alternatives();
    if (!this.#take(')')) throw new Unsupported();
    return pattern;
  }

  #escape(): CharacterPattern {
    const character = this.#next();
    if (UNKNOWN_ESCAPES.test(character)) throw new Unsupported();
    if (character === 'p' || character === 'P') return this.#property(character === 'P');
    if (character === 'u' || character === 'x') return this.#codePoint(character);
    const known = lookUp(CLASS_ESCAPES, character);
    if (known !== undefined) {
      return anyOf((other) => known.test(other));
    }
    return literal(lookUp(LITERAL_ESCAPES, character) ?? character);
  }

  /** `\p{...}` */
  #property(isNegated: boolean): CharacterPattern {
    if (!this.#take('{')) throw new Unsupported();
    const end = this.#indexOf('}');
    const name = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    this.#budget.steps -= PROPERTY_STEPS;
    const known = this.#budget.steps < 0 ? undefined : propertyOf(name);
    if (known === undefined) throw new Unsupported();
    return anyOf((other) => known.test(other) !== isNegated);
  }

  #codePoint(kind: string): CharacterPattern {
    const match = (kind === 'x' ? /^[0-9a-fA-F]{2}/ : /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/).exec(
      this.#text.slice(this.#at, this.#at + 10),
    )?.[0];
    if (match === undefined) throw new Unsupported();
    this.#at += match.length;
    const code = Number.parseInt(match.replace(/[{}]/g, ''), 16);
    if (code > 0x10ffff) throw new Unsupported();
    return literal(String.fromCodePoint(code));
  }

  #characterClass(): CharacterPattern {
    const isNegated = this.#take('^');
    const members: CharacterPattern[] = [];
    while (!this.#take(']')) members.push(this.#classMember());
    const isMember = (character: string) => members.some(({ matches }) => matches(character));
    const [first] = members;
    return isNegated || first === undefined
      ? anyOf((character) => isMember(character) !== isNegated, members.length)
      : { ...first, matches: isMember, size: members.length };
  }

  #classMember(): CharacterPattern {
    const from = this.#classCharacter();
    const isRange = this.#peek() === '-' && this.#text[this.#at + 1] !== ']';
    if (!isRange) return from;
    this.#at++;
    const [low, high] = [from.written, this.#classCharacter().written].map((end) => end.codePointAt(0) ?? 0);
    const isInside = (code: number) => code >= (low ?? 0) && code <= (high ?? 0);
    return { ...from, matches: (character) => isInside(character.codePointAt(0) ?? -1) };
  }

  #classCharacter(): CharacterPattern {
    const character = this.#next();
    if (character !== '\\') return literal(character);
    return this.#take('b') ? literal('\b') : this.#escape();
  }

  #bounds(): [least: number, most: number] {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    if (this.#peek() !== '{') return [1, 1];
    const match = /^\{(\d{1,4})(,(\d{1,4})?)?\}/.exec(this.#text.slice(this.#at, this.#at + 12));
    if (match === null) return [1, 1];
    this.#at += match[0].length;
    const least = Number(match[1]);
    return [least, match[2] === undefined ? least : Number(match[3] ?? Number.POSITIVE_INFINITY)];
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #next(): string {
    if (this.#at >= this.#text.length) throw new Unsupported();
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #indexOf(character: string): number {
    const index = this.#text.indexOf(character, this.#at);
    if (index === -1) throw new Unsupported();
    return index;
  }
}

/** A Unicode property as a test of one character; undefined for what is none. */
function propertyOf(name: string): RegExp | undefined {
  if (!/^\w{1,40}(?:=\w{1,40})?$/.test(name)) return undefined;
  try {
    return new RegExp(`^\\p{${name}}$`, 'u');
  } catch {
    return undefined;
  }
}
