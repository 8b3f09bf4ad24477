import { countText } from '../../kit/text/count-text.ts';
import type { Problem } from '../problem.ts';

export const MAX_PROBLEMS = 20;

/** Problems that are counted: each costs a search for what was meant. */
export const MAX_COUNTED_PROBLEMS = 100;

/** The problems that are shown; the last one says how many more there are. */
export function firstProblems(problems: readonly Problem[]): readonly Problem[] {
  const more = Math.min(problems.length, MAX_COUNTED_PROBLEMS) - MAX_PROBLEMS;
  if (more <= 0) return problems;
  const count = `${problems.length >= MAX_COUNTED_PROBLEMS ? 'at least ' : ''}${countText(more, 'more problem')}`;
  const rest: Problem = {
    path: '',
    message: `the configuration has ${count}, shown when these are corrected`,
    isAboutRest: true,
  };
  return [...problems.slice(0, MAX_PROBLEMS), rest];
}
