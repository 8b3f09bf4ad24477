import { LRUCache } from 'lru-cache';
import { runAtOnce, type Sliced } from '../../../kit/loop/turns.ts';
import { AllMatches } from '../../../kit/pattern/all-matches.ts';
import { compileProgram, compilingProgram, type Program } from '../../../kit/pattern/program.ts';
import { SLICE_WORK } from '../../../kit/pattern/threads.ts';
import type { PatternLimits } from '../../../kit/text/linear-pattern.ts';

/**
 * Instructions bound the time that a character takes at worst, characters of the translation the time that a pattern
 * takes to compile, which cannot pause.
 */
export const FILTER_PATTERN_LIMITS: PatternLimits = { characters: 100_000, size: 5000, translated: 60_000 };

/** For patterns that are stored: what was accepted once is not refused by a later, lower limit. */
export const STORED_PATTERN_LIMITS: PatternLimits = {
  ...FILTER_PATTERN_LIMITS,
  translated: Number.POSITIVE_INFINITY,
};

/** A pattern of a custom filter, ready for matching. */
export interface CompiledPattern {
  readonly program: Program;
  readonly machine: AllMatches;
}

/** Patterns that are in use, so that guardrails and their copies share what was compiled. */
const compiled = new LRUCache<string, CompiledPattern>({ max: 500 });

/** Why a pattern cannot be used, in words that fit behind "the pattern"; undefined = it can. */
export function* checkingPattern(source: string): Sliced<string | undefined> {
  const outcome = yield* compilingPattern(source);
  return typeof outcome === 'string' ? outcome : yield* costProblem(outcome);
}

/** Steps of the automaton for each character of a sample, on average and at most. */
const MAX_SAMPLE_STEPS = 250;
const SAMPLE_CHARACTERS = 1024;
/** Texts in which parts of many patterns match: prose, a long word, a long number, and blanks. */
const SAMPLES = ['The report of May 12 names a town, an amount (3.50) and a key. ', 'aB', '4071', ' '].map(
  (piece) => piece.repeat(Math.ceil(SAMPLE_CHARACTERS / piece.length)).slice(0, SAMPLE_CHARACTERS),
);

/**
 * Searches samples and counts the steps. A pattern such as `.{1000}` has as many open matches as it has repetitions,
 * and each of them takes a step for each character.
 */
function* costProblem({ machine }: CompiledPattern): Sliced<string | undefined> {
  for (const sample of SAMPLES) {
    const search = machine.search();
    const most = machine.work + MAX_SAMPLE_STEPS * SAMPLE_CHARACTERS;
    for (let at = 0; at < sample.length; ) {
      at = search.read(sample, 0, sample.length, SLICE_WORK);
      yield;
      if (machine.work > most) {
        return `takes more than ${MAX_SAMPLE_STEPS} steps a character: repeat less, or begin with fixed characters`;
      }
    }
  }
  return undefined;
}

/** The same at once. */
export function checkPattern(source: string): string | undefined {
  return runAtOnce(checkingPattern(source));
}

/** The compiled pattern, or the reason why it cannot be used. */
export function* compilingPattern(
  source: string,
  limits: PatternLimits = FILTER_PATTERN_LIMITS,
): Sliced<CompiledPattern | string> {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  if (!isWarm) {
    // The first patterns of a process take many times longer than others: small ones go first, in slices of their own.
    isWarm = true;
    for (let round = 0; round < WARM_UP_ROUNDS; round++) {
      compileProgram(WARM_UP, FILTER_PATTERN_LIMITS);
      yield;
    }
  }
  const compilation = yield* compilingProgram(source, limits);
  yield;
  if (!compilation.ok) return compilation.problem;
  const { program } = compilation;
  const pattern = { program, machine: yield* AllMatches.of(program) };
  compiled.set(source, pattern);
  yield;
  return pattern;
}

const WARM_UP = '(?i:[\\s\\S][a-z]word\\d|x{2}y?)'.repeat(16);
const WARM_UP_ROUNDS = 12;
let isWarm = false;
