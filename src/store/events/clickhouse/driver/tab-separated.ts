import { forEachSliced, type Sliced } from '../../../../kit/loop/turns.ts';

/** A row of a reply: texts, null for NULL. */
export type TextRow = readonly (string | null)[];

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
};

const UNESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  r: '\r',
  n: '\n',
  t: '\t',
  '0': '\0',
};

const NULL = '\\N';

/** A value as a field of the format TabSeparated. */
export function fieldOf(value: string | number | bigint | boolean | null): string {
  if (value === null) return NULL;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value !== 'string') return String(value);
  return value.replace(/[\\\t\n\r\0]/g, (character) => ESCAPES[character] ?? character);
}

/** The rows of a reply in the format TabSeparated. Yields to the event loop. */
export function* rowsOf(text: string): Sliced<TextRow[]> {
  const rows: TextRow[] = [];
  if (text === '') return rows;
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  yield* forEachSliced(lines, (line) => {
    rows.push(line.split('\t').map(textOfField));
  });
  return rows;
}

function textOfField(field: string): string | null {
  if (field === NULL) return null;
  if (!field.includes('\\')) return field;
  return field.replace(/\\(.)/gs, (_, character: string) => UNESCAPED[character] ?? character);
}

/** A text as a literal of SQL: nothing of it is read as SQL. Old servers cannot bind parameters. */
export function literalOf(text: string): string {
  return `'${fieldOf(text).replaceAll("'", "\\'")}'`;
}
