import { lookUp } from '../../kit/lookup.ts';

/**
 * Writes a text that fits a regular expression, without ever running one: patterns come from callers, and running them
 * could take for ever. Knows what patterns in schemas use: literals, classes, groups, alternatives, repetitions and
 * anchors. Undefined for what looks around or back.
 */
export function patternValue(pattern: string, minLength: number): string | undefined {
  for (let extra = 0; extra <= MOST_EXTRA; extra++) {
    const writer = new Writer(pattern, extra);
    const text = writer.write();
    if (text === undefined || text.length >= minLength || !writer.canGrow) return text;
  }
  return undefined;
}

/** Repetitions beyond the least, tried in turn until the text is long enough. */
const MOST_EXTRA = 256;
/** No single repetition writes more than this, and no pattern nests deeper. */
const MOST_REPEATS = 1000;
const MOST_DEPTH = 50;

/** What an escape stands for; any other escaped character stands for itself. */
const ESCAPES: Readonly<Record<string, string>> = {
  d: '1',
  D: 'a',
  w: 'a',
  W: '-',
  s: ' ',
  S: 'a',
  n: '\n',
  t: '\t',
  r: '\r',
  b: '',
  B: '',
};

/** Characters to choose from where a class says what it is not. */
const CANDIDATES = ['a', 'A', '1', '-', '_', ' ', '.', 'z', 'é', '+'];

/** Characters of the class escapes, as far as `CANDIDATES` go. */
const CLASS_ESCAPES: Readonly<Record<string, RegExp>> = {
  d: /\d/,
  D: /\D/,
  w: /\w/,
  W: /\W/,
  s: /\s/,
  S: /\S/,
};

class Unsupported extends Error {}

class Writer {
  canGrow = false;
  readonly #pattern: string;
  readonly #extra: number;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, extra: number) {
    this.#pattern = pattern;
    this.#extra = extra;
  }

  write(): string | undefined {
    try {
      const text = this.#alternatives();
      return this.#at === this.#pattern.length ? text : undefined;
    } catch (error) {
      if (error instanceof Unsupported) return undefined;
      throw error;
    }
  }

  /** The first alternative is written, the others are read over. */
  #alternatives(): string {
    if (++this.#depth > MOST_DEPTH) throw new Unsupported();
    const text = this.#sequence();
    while (this.#take('|')) this.#sequence();
    this.#depth--;
    return text;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#peek())) {
      const atom = this.#atom();
      text += atom.repeat(this.#repeats());
    }
    return text;
  }

  #atom(): string {
    const character = this.#next();
    switch (character) {
      case '^':
      case '$':
        return '';
      case '.':
        return 'a';
      case '[':
        return this.#characterClass();
      case '(':
        return this.#group();
      case '\\':
        return this.#escape();
      default:
        return character;
    }
  }

  #group(): string {
    if (this.#take('?')) {
      const isNamed = this.#pattern[this.#at] === '<' && !'=!'.includes(this.#pattern[this.#at + 1] ?? '=');
      if (isNamed) this.#at = this.#indexOf('>') + 1;
      else if (!this.#take(':')) throw new Unsupported();
    }
    const text = this.#alternatives();
    if (!this.#take(')')) throw new Unsupported();
    return text;
  }

  #escape(): string {
    const character = this.#next();
    if (/[1-9k]/.test(character)) throw new Unsupported();
    if (character === 'p') return this.#property();
    if (character === 'u' || character === 'x') return this.#codePoint(character);
    return lookUp(ESCAPES, character) ?? character;
  }

  /** `\p{...}`: a letter, of the case that is asked for, or a digit. */
  #property(): string {
    if (!this.#take('{')) throw new Unsupported();
    const end = this.#indexOf('}');
    const name = this.#pattern.slice(this.#at, end);
    this.#at = end + 1;
    if (/^(?:N|Nd|Number)$/.test(name)) return '1';
    if (/^(?:Lu|Uppercase)/.test(name)) return 'A';
    if (/^(?:L|Ll|Alphabetic|Letter|Lowercase|Script=Latin)/.test(name)) return 'a';
    throw new Unsupported();
  }

  #codePoint(kind: string): string {
    const match = (kind === 'x' ? /^[0-9a-fA-F]{2}/ : /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/).exec(
      this.#pattern.slice(this.#at, this.#at + 10),
    )?.[0];
    if (match === undefined) throw new Unsupported();
    this.#at += match.length;
    const code = Number.parseInt(match.replace(/[{}]/g, ''), 16);
    if (code > 0x10ffff) throw new Unsupported();
    return String.fromCodePoint(code);
  }

  #characterClass(): string {
    const isNegated = this.#take('^');
    const members: ((character: string) => boolean)[] = [];
    let first: string | undefined;
    while (!this.#take(']')) {
      const { from, matches } = this.#classMember();
      first ??= from;
      members.push(matches);
    }
    if (!isNegated && first !== undefined) return first;
    const free = CANDIDATES.find((candidate) => isNegated !== members.some((matches) => matches(candidate)));
    if (free === undefined) throw new Unsupported();
    return free;
  }

  #classMember(): { from: string | undefined; matches: (character: string) => boolean } {
    const start = this.#next();
    if (start === '\\') {
      const known = lookUp(CLASS_ESCAPES, this.#peek());
      if (known !== undefined) {
        const from = lookUp(ESCAPES, this.#next());
        return { from, matches: (character) => known.test(character) };
      }
    }
    const from = start === '\\' ? this.#escape() : start;
    const isRange = this.#peek() === '-' && this.#pattern[this.#at + 1] !== ']';
    if (!isRange) return { from, matches: (character) => character === from };
    this.#at++;
    const last = this.#next();
    const to = last === '\\' ? this.#escape() : last;
    return { from, matches: (character) => character >= from && character <= to };
  }

  /** How often the atom before is written: its least, and more where more is needed and allowed. */
  #repeats(): number {
    const [least, most] = this.#bounds();
    this.#take('?');
    if (most > least) this.canGrow = true;
    const count = Math.min(least + this.#extra, most);
    if (count > MOST_REPEATS) throw new Unsupported();
    return count;
  }

  #bounds(): [least: number, most: number] {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const match = /^\{(\d{1,4})(,(\d{1,4})?)?\}/.exec(this.#pattern.slice(this.#at, this.#at + 12));
    if (match === null) return [1, 1];
    this.#at += match[0].length;
    const least = Number(match[1]);
    return [least, match[2] === undefined ? least : Number(match[3] ?? Number.POSITIVE_INFINITY)];
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? '';
  }

  #next(): string {
    if (this.#at >= this.#pattern.length) throw new Unsupported();
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #indexOf(character: string): number {
    const index = this.#pattern.indexOf(character, this.#at);
    if (index === -1) throw new Unsupported();
    return index;
  }
}
