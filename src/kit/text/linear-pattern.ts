import { RE2JS, RE2JSException } from 're2js';
import { PatternProblem, type TranslationLimits, toRe2 } from './re2-syntax.ts';

/** Limits of a pattern from an untrusted source. */
export interface PatternLimits extends TranslationLimits {
  readonly characters: number;
}

/** A pattern at these limits compiles in some milliseconds. */
export const DEFAULT_PATTERN_LIMITS: PatternLimits = { characters: 4096, size: 2500, translated: 8000 };

/** A regular expression that matches in time proportional to the text, whatever the pattern. */
export interface LinearPattern {
  /** Number of instructions: each character of a text takes this many steps at worst. */
  readonly size: number;
  /** Whether it matches anywhere in a text. */
  test(text: string): boolean;
}

/** A compiled pattern, or the reason for its refusal in words that fit behind "the pattern". */
export type PatternCompilation =
  | { readonly ok: true; readonly pattern: LinearPattern }
  | { readonly ok: false; readonly problem: string };

/**
 * Compiles a regular expression of ECMAScript (flag `u`) for RE2. Refuses look-around and back-references, which take
 * more than linear time, the few Unicode properties that RE2 lacks, malformed patterns, and those above the limits.
 */
export function compilePattern(
  source: string,
  limits: PatternLimits = DEFAULT_PATTERN_LIMITS,
): PatternCompilation {
  try {
    if (source.length > limits.characters) throw new PatternProblem('is too large');
    const { text } = toRe2(source, limits);
    return { ok: true, pattern: new Re2Pattern(RE2JS.compile(text)) };
  } catch (error) {
    if (error instanceof PatternProblem) return { ok: false, problem: error.message };
    if (error instanceof RE2JSException) return { ok: false, problem: 'is not supported' };
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
}
