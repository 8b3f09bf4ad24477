import { RE2JS, RE2JSException } from 're2js';
import { exampleOf } from './pattern-example.ts';
import { PatternProblem, PatternTooLarge, toRe2 } from './re2-syntax.ts';

/** Bounds for patterns that strangers write. */
export interface PatternLimits {
  /** Characters of the pattern. */
  readonly characters: number;
  /** Instructions that it may compile to, about. Memory and time grow with them. */
  readonly size: number;
}

export const DEFAULT_PATTERN_LIMITS: PatternLimits = { characters: 4096, size: 2500 };

/** A regular expression that matches in time proportional to the text, whatever the pattern. */
export interface LinearPattern {
  /** Instructions: each character of a text takes this many steps at worst. */
  readonly size: number;
  /** Whether it matches anywhere in a text. */
  test(text: string): boolean;
  /**
   * The shortest text of at least so many characters that it matches as a whole; undefined if none is found. Calls `pay`
   * with the instructions that each character took, which may throw to end the search.
   */
  example(leastLength: number, pay: (instructions: number) => void): string | undefined;
}

/** A compiled pattern, or the reason for its refusal in words that fit behind "the pattern". */
export type PatternCompilation =
  | { readonly ok: true; readonly pattern: LinearPattern }
  | { readonly ok: false; readonly problem: string; readonly isTooLarge: boolean };

/**
 * Compiles a regular expression of ECMAScript (flag `u`) for RE2. Refuses look-around and references back, which take more
 * than linear time, the few Unicode properties that RE2 does not have, malformed patterns, and those beyond the limits.
 */
export function compilePattern(
  source: string,
  limits: PatternLimits = DEFAULT_PATTERN_LIMITS,
): PatternCompilation {
  try {
    if (source.length > limits.characters) throw new PatternTooLarge();
    const { text } = toRe2(source, limits.size);
    const engine = RE2JS.compile(text);
    return { ok: true, pattern: new Re2Pattern(engine) };
  } catch (error) {
    const isTooLarge = error instanceof PatternTooLarge;
    if (error instanceof PatternProblem) return { ok: false, problem: error.message, isTooLarge };
    if (error instanceof RE2JSException) return { ok: false, problem: 'is not supported', isTooLarge };
    throw error;
  }
}

class Re2Pattern implements LinearPattern {
  readonly size: number;
  readonly #engine: RE2JS;

  constructor(engine: RE2JS) {
    this.#engine = engine;
    this.size = engine.programSize();
  }

  test(text: string): boolean {
    return this.#engine.test(text);
  }

  example(leastLength: number, pay: (instructions: number) => void): string | undefined {
    const text = exampleOf(this.#engine.re2().prog, leastLength, pay);
    return text !== undefined && this.test(text) ? text : undefined;
  }
}
