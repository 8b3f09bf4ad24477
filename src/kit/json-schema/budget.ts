import { compilePattern, type PatternCompilation } from '../text/linear-pattern.ts';

/** Instructions of a pattern, executed on one character each, that count as one step. */
const INSTRUCTIONS_PER_STEP = 8;
const STEPS_PER_PATTERN_CHARACTER = 2;
const STEPS_PER_INSTRUCTION = 2;

/** Remaining work of a check, in steps: a keyword, a name or a character takes one. Negative once spent. */
export class StepBudget {
  steps: number;
  readonly #patterns = new Map<string, PatternCompilation>();

  constructor(steps: number) {
    this.steps = steps;
  }

  /**
   * Whether a regular expression matches anywhere in a text. Undefined if `compilePattern` refuses it or the budget
   * does not cover its worst case.
   */
  matches(pattern: string, text: string): boolean | undefined {
    const compilation = this.compile(pattern);
    if (compilation?.ok !== true) return undefined;
    const steps = 1 + (text.length * compilation.pattern.size) / INSTRUCTIONS_PER_STEP;
    if (steps > this.steps) return undefined;
    this.steps -= steps;
    return compilation.pattern.test(text);
  }

  /** Compiles a pattern on first use. Undefined if the budget is spent. */
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
