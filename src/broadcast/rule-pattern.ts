import type { Sliced } from '../kit/loop/turns.ts';
import { AllMatches } from '../kit/pattern/all-matches.ts';
import { compileProgram, compilingProgram, type Program } from '../kit/pattern/program.ts';
import { assertsBetween, BEFORE, SLICE_WORK, Threads } from '../kit/pattern/threads.ts';
import { DEFAULT_PATTERN_LIMITS } from '../kit/text/linear-pattern.ts';

/** Instructions of all patterns of a destination: they are compiled at once, in some ten milliseconds. */
const MAX_SIZE_TOGETHER = 5000;

/**
 * Most work on all patterns of a destination for one generation, in units of about ten nanoseconds: some fifty
 * milliseconds of a processor. Prose takes a unit a character, a pattern such as `[ab].{200}c` many.
 */
export const MAX_PATTERN_WORK = 5_000_000;

/** What patterns have done for one generation. */
export interface PatternWork {
  spent: number;
}

/** Why some patterns cannot be used, or not together, in words that fit behind "the pattern", by their places. */
export function patternProblems(sources: readonly string[]): ReadonlyMap<number, string> {
  const problems = new Map<number, string>();
  let size = 0;
  for (const [index, source] of sources.entries()) {
    if (size > MAX_SIZE_TOGETHER) break;
    const compilation = compileProgram(source, DEFAULT_PATTERN_LIMITS);
    if (!compilation.ok) {
      problems.set(index, compilation.problem);
      continue;
    }
    const { program } = compilation;
    size += program.ops.length;
    // The search counts no match without characters.
    if (matchesNothing(program))
      problems.set(index, 'matches an empty text: use exists, or say what must be there');
    if (size > MAX_SIZE_TOGETHER) problems.set(index, 'is too large together with those before it');
  }
  return problems;
}

function matchesNothing(program: Program): boolean {
  const threads = new Threads(program);
  threads.clear();
  return threads.add(program.start, 0, assertsBetween(BEFORE.nothing, undefined));
}

/** A pattern of a rule. It is compiled for the first text. */
export class RulePattern {
  readonly #source: string;
  /** Null: this release cannot compile it. */
  #machine: AllMatches | null | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether it matches a part of a text. False too if that takes more than is left of the work. */
  *isIn(text: string, work: PatternWork): Sliced<boolean> {
    this.#machine ??= yield* compiled(this.#source);
    const machine = this.#machine;
    if (machine === null) return false;
    const search = machine.search();
    const before = work.spent;
    for (let at = 0; at < text.length && search.matches.length === 0; ) {
      if (work.spent > MAX_PATTERN_WORK) return false;
      at = search.read(text, 0, text.length, SLICE_WORK);
      work.spent = before + search.work;
      yield;
    }
    search.end();
    return search.matches.length > 0;
  }
}

function* compiled(source: string): Sliced<AllMatches | null> {
  const compilation = yield* compilingProgram(source, DEFAULT_PATTERN_LIMITS);
  yield;
  return compilation.ok ? yield* AllMatches.of(compilation.program) : null;
}
