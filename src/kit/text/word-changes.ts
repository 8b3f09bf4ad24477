/** A span of a text, and what stands in its place in another one. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Texts that differ in more words are one change, from the first word that differs to the last. */
const MAX_DIFFERENCES = 400;

/** Words, single other characters, and runs of blanks. */
const WORD = /[\p{L}\p{N}\p{M}_]+|\s+|./gsu;

/**
 * What was changed in a text, in order: applied to `before` it gives `after`. Words are compared, and of a changed one
 * the first and last characters stay that are equal. Changes with only blanks between them are one.
 */
export function wordChanges(before: string, after: string): TextChange[] {
  const one = before.match(WORD) ?? [];
  const other = after.match(WORD) ?? [];
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head++;
  let tail = 0;
  const most = Math.min(one.length, other.length) - head;
  while (tail < most && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  const kept = keptWords(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  const starts = [0];
  for (const word of one) starts.push((starts[starts.length - 1] as number) + word.length);
  const changes: TextChange[] = [];
  let [from, place] = [head, head];
  const change = (to: number, until: number) => {
    const [start = 0, end = 0] = [starts[from], starts[to]];
    const text = other.slice(place, until).join('');
    const last = changes[changes.length - 1];
    const between = last === undefined ? '' : before.slice(last.end, start);
    if (start === end && text === '') return;
    if (last === undefined || between.trim() !== '') changes.push({ start, end, text });
    else changes[changes.length - 1] = { start: last.start, end, text: last.text + between + text };
  };
  for (const [oldIndex, newIndex] of kept) {
    change(head + oldIndex, head + newIndex);
    from = head + oldIndex + 1;
    place = head + newIndex + 1;
  }
  change(one.length - tail, other.length - tail);
  return changes.map((each) => trimmed(before, each));
}

/** A change without the equal characters at its ends. Halves of characters stay together. */
function trimmed(before: string, { start, end, text }: TextChange): TextChange {
  const old = [...before.slice(start, end)];
  const given = [...text];
  const least = Math.min(old.length, given.length);
  let head = 0;
  while (head < least && old[head] === given[head]) head++;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail] === given[given.length - 1 - tail]) tail++;
  return {
    start: start + lengthOf(old.slice(0, head)),
    end: end - lengthOf(old.slice(old.length - tail)),
    text: given.slice(head, given.length - tail).join(''),
  };
}

function lengthOf(characters: readonly string[]): number {
  return characters.reduce((sum, { length }) => sum + length, 0);
}

/** The places of words that two lists have in common, in order (Myers' algorithm); none if they differ in too many. */
function keptWords(one: readonly string[], other: readonly string[]): [number, number][] {
  /** Before each further difference: how far into `one` each diagonal gets. */
  const reached: Map<number, number>[] = [];
  let furthest = new Map([[1, 0]]);
  const isInsertion = (diagonal: number, differences: number, from: ReadonlyMap<number, number>) =>
    diagonal === -differences ||
    (diagonal !== differences && (from.get(diagonal - 1) ?? -1) < (from.get(diagonal + 1) ?? -1));
  const firstOn = (diagonal: number, differences: number, from: ReadonlyMap<number, number>): number =>
    isInsertion(diagonal, differences, from)
      ? (from.get(diagonal + 1) ?? 0)
      : (from.get(diagonal - 1) ?? 0) + 1;
  for (let differences = 0; differences <= MAX_DIFFERENCES; differences++) {
    reached.push(furthest);
    const next = new Map<number, number>();
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      let at = firstOn(diagonal, differences, furthest);
      while (at < one.length && at - diagonal < other.length && one[at] === other[at - diagonal]) at++;
      next.set(diagonal, at);
      if (at < one.length || at - diagonal < other.length) continue;
      const kept: [number, number][] = [];
      let [end, on] = [at, diagonal];
      for (let left = differences; left >= 0; left--) {
        const from = reached[left] as ReadonlyMap<number, number>;
        const first = firstOn(on, left, from);
        for (let index = end - 1; index >= first; index--) kept.push([index, index - on]);
        const isInserted = isInsertion(on, left, from);
        end = isInserted ? first : first - 1;
        on += isInserted ? 1 : -1;
      }
      return kept.reverse();
    }
    furthest = next;
  }
  return [];
}
