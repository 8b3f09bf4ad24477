import type { Format } from '../../../src/ir/items.ts';
import type { Fate, Judged } from './fate.ts';
import type { Upstream } from './upstreams.ts';

/** Whose types a row comes from, and in which direction it goes. */
export const PARTS = [
  'requests',
  'translated requests',
  'provider requests',
  'router requests',
  'answers',
  'translated answers',
  'events',
] as const;

export type Part = (typeof PARTS)[number];

/** True for parts whose upstream speaks the caller's format, and nothing is relayed all the same. */
export function isTranslated(part: Part): boolean {
  return part === 'translated requests' || part === 'translated answers';
}

export function isAnswer(part: Part): boolean {
  return part === 'answers' || part === 'translated answers' || part === 'events';
}

/** The fate of one thing on one way. */
export interface Outcome extends Judged {
  readonly part: Part;
  readonly format: Format;
  readonly upstream: Upstream;
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
  return consistent(results);
}

/**
 * Fates that others decide: a value arrives if another value of its member arrives otherwise, and an object arrives if
 * anything in it does, although the sample of the whole said nothing that does.
 */
export function consistent<T extends Judgeable & Judged>(results: readonly T[]): T[] {
  const values = new Map<string, Set<string>>();
  for (const { way, name, shown } of results) {
    const key = memberKey(way, name);
    if (key !== undefined && shown !== undefined) values.set(key, (values.get(key) ?? new Set()).add(shown));
  }
  const valued = results.map((result): T => {
    const key = memberKey(result.way, result.name);
    const isTold = key !== undefined && (values.get(key)?.size ?? 0) > 1;
    return isTold && result.fate === 'left out' ? { ...result, fate: 'carried' } : result;
  });
  const arrived = new Set<string>();
  // Parts come behind what they are part of.
  return valued
    .reverse()
    .map((result): T => {
      const arrives = arrived.has(`${result.way} ${result.name}`);
      const isRaised = arrives && UNARRIVED.has(result.fate);
      const raised: T = isRaised ? { ...result, fate: 'carried' } : result;
      if (ARRIVED.has(raised.fate) && isSubstance(raised)) arrived.add(`${raised.way} ${raised.parent}`);
      return raised;
    })
    .reverse();
}

/** The member whose value a probe is. */
function memberKey(way: string, name: string): string | undefined {
  const end = name.indexOf(' = ');
  return end < 0 ? undefined : `${way} ${name.slice(0, end)}`;
}

/** Null passes wherever it stands: it says nothing. */
function isSubstance({ name }: Judgeable): boolean {
  return !name.endsWith(' = null');
}

const ARRIVED: ReadonlySet<Fate> = new Set(['passed', 'carried']);
const UNARRIVED: ReadonlySet<Fate> = new Set(['dropped', 'left out', 'lost']);
