import { RecentMap } from '../../../kit/collections/recent-map.ts';
import { runAtOnce, type Sliced } from '../../../kit/loop/turns.ts';
import { AllMatches } from '../../../kit/pattern/all-matches.ts';
import { compileProgram, compilingProgram, type Program } from '../../../kit/pattern/program.ts';
import type { PatternLimits } from '../../../kit/text/linear-pattern.ts';
import { measuringCost } from './pattern-cost.ts';

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

export interface CompiledPattern {
  readonly program: Program;
  readonly machine: AllMatches;
}

/** Patterns that are in use, so that guardrails and their copies share what was compiled. */
const compiled = new RecentMap<string, CompiledPattern>(500);

/** Most work on a character of the worst sample: of one pattern, and of all patterns of a guardrail together. */
const MAX_STEPS = 2500;
const MAX_STEPS_TOGETHER = 5000;
/** Patterns up to this do not count towards the work of all together: any number of them is allowed. */
const UNCOUNTED_STEPS = 25;
/** After so many patterns that take too many steps, no further ones are measured. */
const MAX_TOO_DEAR = 3;

export interface PatternProblem {
  readonly index: number;
  readonly problem: string;
}

/** The patterns of a guardrail that cannot be used, or not together. */
export function* checkingPatterns(sources: readonly string[]): Sliced<PatternProblem[]> {
  const problems: PatternProblem[] = [];
  const steps = new Map<string, number>();
  let together = 0;
  let tooDear = 0;
  for (const [index, source] of sources.entries()) {
    if (steps.has(source)) continue;
    const outcome = yield* compilingPattern(source);
    if (typeof outcome === 'string') {
      problems.push({ index, problem: outcome });
      continue;
    }
    const taken = yield* costOf(source, outcome);
    if (taken > MAX_STEPS) {
      problems.push({ index, problem: `takes more than ${MAX_STEPS} steps a character: ${ADVICE}` });
      if (++tooDear === MAX_TOO_DEAR) break;
      continue;
    }
    steps.set(source, taken);
    if (taken > UNCOUNTED_STEPS) together += taken;
    if (together <= MAX_STEPS_TOGETHER) continue;
    problems.push(tooDearTogether(sources, steps));
    break;
  }
  return problems;
}

const ADVICE = 'repeat less, or begin with fixed characters';

/** Names the dearest of some patterns. */
function tooDearTogether(sources: readonly string[], steps: ReadonlyMap<string, number>): PatternProblem {
  const [source, taken] = [...steps].reduce((dearest, each) => (each[1] > dearest[1] ? each : dearest));
  const problem =
    `takes ${Math.round(taken)} steps a character, and with the others more than ${MAX_STEPS_TOGETHER}: ` +
    `${ADVICE}, or remove patterns`;
  return { index: sources.indexOf(source), problem };
}

/** What patterns were found to cost: a guardrail is checked with each change and trial. */
const costs = new RecentMap<string, number>(500);

function* costOf(source: string, { program }: CompiledPattern): Sliced<number> {
  const known = costs.get(source) ?? (yield* measuringCost(program, MAX_STEPS));
  costs.set(source, known);
  return known;
}

/** The problem of a single pattern, at once; undefined = it has none. */
export function checkPattern(source: string): string | undefined {
  return runAtOnce(checkingPatterns([source]))[0]?.problem;
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
