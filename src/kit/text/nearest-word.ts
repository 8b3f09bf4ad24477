/** A misspelt word differs from the one that was meant in at most one of this many characters, unless told else. */
const CHARACTERS_PER_MISTAKE = 3;

/** Longer words are not compared: the work grows with the product of both lengths. */
const MAX_COMPARED_CHARACTERS = 128;

/**
 * The known word that a misspelt one most likely stands for; undefined if none is close. The first wins a tie. With
 * more `charactersPerMistake` fewer words are close.
 */
export function nearestWord(
  typed: string,
  known: Iterable<string>,
  charactersPerMistake = CHARACTERS_PER_MISTAKE,
): string | undefined {
  if (typed.length > MAX_COMPARED_CHARACTERS) return undefined;
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(typed.length / charactersPerMistake)) + 1;
  for (const word of known) {
    if (Math.abs(word.length - typed.length) >= least) continue;
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase());
    if (distance >= least) continue;
    nearest = word;
    least = distance;
  }
  return nearest;
}

/** Characters to insert, delete, replace or swap with their neighbour until both texts are equal. */
export function editDistance(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const replaced = at(last, column - 1) + (isSame ? 0 : 1);
      const swapped = isSwapped ? at(beforeLast, column - 2) + 1 : replaced;
      current[column] = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced, swapped);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

function at(distances: readonly number[], index: number): number {
  return distances[index] ?? 0;
}
