/** Where a command writes: results to `out`, problems to `err`. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** The result of a command: a value for `--json`, and its text for the terminal. */
export interface CommandResult<T> {
  readonly result: T;
  readonly text: string;
  /** True = exit code 1. */
  readonly hasFailed?: boolean;
}

/** Indented JSON. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A table with aligned columns. */
export function tableText(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((cells) => cells.map(printable));
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** An amount in USD, never with an exponent. */
export function usdText(usd: number): string {
  const [whole = '', fraction = ''] = usd.toFixed(9).split('.');
  return `${whole}.${fraction.replace(/0{1,7}$/, '')}`;
}

/** Replaces control characters of names, which could steer the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
