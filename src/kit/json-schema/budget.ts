import { compilePattern, type PatternCompilation } from '../text/linear-pattern.ts';

/** Instructions of a pattern that are tried on characters of a text in one step. */
const TRIES_PER_STEP = 8;
/** Steps for a character of a pattern that is compiled. */
const STEPS_PER_PATTERN_CHARACTER = 2;
/** Steps for an instruction that a pattern is compiled to. */
const STEPS_PER_INSTRUCTION = 2;

/** Work that may still be done before something is left undone. A step is small: a keyword, a name, a character. */
export class Budget {
  steps: number;
  readonly #patterns = new Map<string, PatternCompilation>();

  constructor(steps: number) {
    this.steps = steps;
  }

  /**
   * Whether a regular expression matches anywhere in a text. Undefined if the pattern is refused (`compilePattern` says which
   * are) or the budget does not cover the longest time that it may take.
   */
  matches(pattern: string, text: string): boolean | undefined {
    const compilation = this.compile(pattern);
    if (compilation?.ok !== true) return undefined;
    const steps = 1 + (text.length * compilation.pattern.size) / TRIES_PER_STEP;
    if (steps > this.steps) return undefined;
    this.steps -= steps;
    return compilation.pattern.test(text);
  }

  /** Compiles a pattern at its first use. Undefined if the budget is spent. */
  compile(source: string): PatternCompilation | undefined {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    this.steps -= source.length * STEPS_PER_PATTERN_CHARACTER;
    if (this.steps < 0) return undefined;
    const compilation = compilePattern(source);
    if (compilation.ok) this.steps -= compilation.pattern.size * STEPS_PER_INSTRUCTION;
    this.#patterns.set(source, compilation);
    return compilation;
  }
}
