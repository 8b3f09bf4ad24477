import type { DialectName, Format } from '../../src/ir/items.ts';
import type { Fate, Judged } from './fate.ts';

/** Whose types a row comes from, and in which direction it goes. */
export const PARTS = ['requests', 'router requests', 'answers', 'events'] as const;

export type Part = (typeof PARTS)[number];

/** The fate of one thing on one way. */
export interface Outcome extends Judged {
  readonly part: Part;
  readonly format: Format;
  readonly upstream: DialectName;
  /** The name of the probe. */
  readonly name: string;
  readonly owner: string;
}

/** Something that is judged, and what it is part of: names that are unique on one way. */
export interface Judgeable {
  readonly way: string;
  readonly name: string;
  readonly parent: string | undefined;
}

/**
 * Judges many things at once, each in one of the given places. What is part of something that does not arrive is not
 * judged by itself: it shares the fate. `sharesFate` says where that is so.
 */
export async function judgeEach<P, T extends Judgeable>(
  places: readonly P[],
  tasks: readonly T[],
  sharesFate: (task: T, fate: Fate) => boolean,
  judge: (place: P, task: T) => Promise<Judged>,
): Promise<(T & Judged)[]> {
  const judged = new Map<string, Promise<Judged>>();
  const results: (T & Judged)[] = [];
  let next = 0;
  async function work(place: P): Promise<void> {
    while (next < tasks.length) {
      const index = next;
      const task = tasks[index] as T;
      next += 1;
      // Parents come first in the list, so waiting for one ends.
      const verdict = verdictOf(place, task, judged.get(`${task.way} ${task.parent}`));
      judged.set(`${task.way} ${task.name}`, verdict);
      results[index] = { ...task, ...(await verdict) };
    }
  }
  async function verdictOf(place: P, task: T, parent: Promise<Judged> | undefined): Promise<Judged> {
    const above = await parent;
    return above !== undefined && sharesFate(task, above.fate)
      ? { ...above, sharedWith: above.sharedWith ?? task.parent }
      : judge(place, task);
  }
  await Promise.all(places.map(work));
  return results;
}
