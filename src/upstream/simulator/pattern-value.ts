import { type Pattern, parsePattern } from '../../kit/json-schema/pattern.ts';
import type { Allowance } from './allowance.ts';

/** How long a text shall be, in characters. */
export interface Lengths {
  readonly least: number;
  readonly most: number;
  /** From `least` on; taken where the pattern has a text of about this length. */
  readonly wished: number;
}

/** Writes a text that fits a regular expression; undefined where that is beyond us. */
export function patternValue(pattern: string, lengths: Lengths, allowance: Allowance): string | undefined {
  const parsed = parsePattern(pattern, allowance);
  allowance.spend(0);
  return parsed === undefined ? undefined : new Writer(allowance).write(parsed, lengths);
}

/** Repetitions beyond the least. No longer text could be paid for. */
const MOST_EXTRA = 2 ** 16;

class Writer {
  readonly #allowance: Allowance;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  write(pattern: Pattern, { least, most, wished }: Lengths): string {
    const grown = this.#extraFor(pattern, wished);
    const isFitting = grown !== undefined && this.#lengthOf(pattern, grown) <= most;
    const extra = (isFitting ? grown : this.#extraFor(pattern, least)) ?? 0;
    this.#allowance.write(this.#lengthOf(pattern, extra));
    return this.#textOf(pattern, extra);
  }

  /** The fewest further repetitions that make a text as long as this; undefined when none do. */
  #extraFor(pattern: Pattern, length: number): number | undefined {
    const isEnough = (extra: number) => this.#lengthOf(pattern, extra) >= length;
    if (isEnough(0)) return 0;
    let enough = 1;
    while (!isEnough(enough)) {
      enough *= 2;
      if (enough > MOST_EXTRA) return undefined;
    }
    for (let tooFew = Math.floor(enough / 2); enough - tooFew > 1; ) {
      const middle = Math.floor((tooFew + enough) / 2);
      if (isEnough(middle)) enough = middle;
      else tooFew = middle;
    }
    return enough;
  }

  /** The length of the text, told without writing it: nested repetitions multiply. */
  #lengthOf(pattern: Pattern, extra: number): number {
    this.#allowance.spend(1);
    switch (pattern.kind) {
      case 'character':
        return pattern.written.length;
      case 'place':
        return 0;
      case 'choice':
        return this.#lengthOf(pattern.options[0], extra);
      case 'sequence':
        return pattern.parts.reduce((sum, part) => sum + this.#lengthOf(part, extra), 0);
      case 'repeat': {
        const count = countOf(pattern, extra);
        return count === 0 ? 0 : count * this.#lengthOf(pattern.part, extra);
      }
    }
  }

  #textOf(pattern: Pattern, extra: number): string {
    this.#allowance.spend(1);
    switch (pattern.kind) {
      case 'character':
        return pattern.written;
      case 'place':
        return '';
      case 'choice':
        return this.#textOf(pattern.options[0], extra);
      case 'sequence':
        return pattern.parts.map((part) => this.#textOf(part, extra)).join('');
      case 'repeat': {
        const count = countOf(pattern, extra);
        return count === 0 ? '' : this.#textOf(pattern.part, extra).repeat(count);
      }
    }
  }
}

function countOf({ least, most }: Extract<Pattern, { kind: 'repeat' }>, extra: number): number {
  return Math.min(least + extra, most);
}
