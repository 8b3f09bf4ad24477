import { Pace, type Sliced } from './turns.ts';

const RUN_MEMBERS = 256;

/** `toSorted` in slices; stable. */
export function* sortSliced<T>(members: readonly T[], compare: (one: T, other: T) => number): Sliced<T[]> {
  let runs: T[][] = [];
  for (let begin = 0; begin < members.length; begin += RUN_MEMBERS) {
    if (begin > 0) yield;
    runs.push(members.slice(begin, begin + RUN_MEMBERS).sort(compare));
  }
  const pace = new Pace();
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let place = 0; place < runs.length; place += 2) {
      merged.push(yield* merge(runs[place] ?? [], runs[place + 1] ?? [], { compare, pace }));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  first: readonly T[],
  second: readonly T[],
  { compare, pace }: { readonly compare: (one: T, other: T) => number; readonly pace: Pace },
): Sliced<T[]> {
  const merged: T[] = [];
  let taken = 0;
  for (const member of first) {
    while (taken < second.length && compare(second[taken] as T, member) < 0) {
      if (pace.tick()) yield;
      merged.push(second[taken++] as T);
    }
    if (pace.tick()) yield;
    merged.push(member);
  }
  for (; taken < second.length; taken++) {
    if (pace.tick()) yield;
    merged.push(second[taken] as T);
  }
  return merged;
}
