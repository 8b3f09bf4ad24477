/** What a table is sorted by, and in which direction. */
export interface Sort {
  /** Name of a column. */
  readonly by: string;
  readonly isDescending: boolean;
}

type Sortable = string | number | null;

/** Sorted anew; what has no value comes last in both directions. */
export function sorted<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => Sortable,
  isDescending: boolean,
): Row[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * compared(left, right);
  });
}

function compared(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en-GB', { numeric: true, sensitivity: 'base' });
}

/** As it stands in an address: `name`, `-spent`. Null = not sorted by the reader. */
export function sortOf(text: string | null): Sort | null {
  if (text === null || text === '' || text === '-') return null;
  return text.startsWith('-') ? { by: text.slice(1), isDescending: true } : { by: text, isDescending: false };
}

export function sortText({ by, isDescending }: Sort): string {
  return `${isDescending ? '-' : ''}${by}`;
}
