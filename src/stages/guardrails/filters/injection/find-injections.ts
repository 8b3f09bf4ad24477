import { findEvasions } from './evasions.ts';
import { findPatterns, type InjectionMatch } from './find-patterns.ts';

/** All places of a range of a text that try to write over a model's instructions, in order. */
export function findInjections(text: string, from = 0, to = text.length): InjectionMatch[] {
  const found = [...findPatterns(text, from, to), ...findEvasions(text, from, to)];
  found.sort((left, right) => left.start - right.start || right.end - left.end);
  // A match inside another one says nothing more.
  let reached = 0;
  return found.filter(({ end }) => {
    const isInside = end <= reached;
    reached = Math.max(reached, end);
    return !isInside;
  });
}
