/** Where a command writes: results to `out`, problems to `err`. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** The result of a command: a value for `--json`, and its text for the terminal. */
export interface CommandResult<T> {
  readonly result: T;
  readonly text: string;
  /** Written to `err` behind the text: what `KEY=$(signalbox keys create ...)` must not catch. */
  readonly notes?: string;
  /** True = exit code 1. */
  readonly hasFailed?: boolean;
  /** An exit code with a meaning of its own; absent = 0, or 1 if the command has failed. */
  readonly exitCode?: number;
}

/** Indented JSON. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const LINE_CHARACTERS = 110;

/** Indented JSON with each value that fits on one line: for documents that people read. */
export function documentText(value: unknown): string {
  return `${documentLines(value, '', 0)}\n`;
}

/** `before`: characters in front of the value on its line. */
function documentLines(value: unknown, indent: string, before: number): string {
  const line = oneLine(value);
  if (typeof value !== 'object' || value === null || before + line.length < LINE_CHARACTERS) return line;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${documentLines(item, inner, inner.length)}`)
    : Object.entries(value).map(([name, member]) => {
        const key = `${inner}${JSON.stringify(name)}: `;
        return `${key}${documentLines(member, inner, key.length)}`;
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** A table with aligned columns; `numeric`: headings of columns that are aligned to the right. */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly string[] = [],
): string {
  const lines = [headings, ...rows].map((cells) => cells.map(printable));
  const widths = headings.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const isNumeric = headings.map((heading) => numeric.includes(heading));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return isNumeric[column] ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** Replaces control characters of names, which could steer the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
