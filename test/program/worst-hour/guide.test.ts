import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The program's own text, with pieces of long texts put together and names in texts filled in. */
const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => read(join('src', path)))
  .join('\n')
  .replace(/['`] \+\s*['`]/g, '')
  .replace(/the gateway is \$\{doing\}/g, 'the gateway is stopping')
  .replace(/\((?:\$\{code\})\)/g, '(EROFS)');

/** The rows of the tables below a heading, each with the code spans of its first cell. */
function rowsBelow(page: string, heading: string): { cells: readonly string[]; named: readonly string[] }[] {
  const section = read(page).split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `') && !line.startsWith('| `Service'))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ');
      return {
        cells,
        named: [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text as string),
      };
    });
}

/** Named texts that the program does not have. `...` stands for any text. */
const unknownOf = (texts: readonly string[]) =>
  texts.filter((text) => {
    const pieces = text.split(/ ?\.\.\. ?/).filter((piece) => piece !== '');
    return !pieces.every((piece) => source.includes(piece));
  });

it.each([
  ['docs/guide/running.md', 'What the log says', 10],
  ['docs/guide/failures.md', 'The log', 18],
  ['docs/guide/failures.md', 'What callers see', 6],
] as const)('%s names below %s only what the program says', (page, heading, least) => {
  const rows = rowsBelow(page, heading);
  expect(rows.length).toBeGreaterThanOrEqual(least);
  expect(unknownOf(rows.flatMap(({ named }) => named))).toEqual([]);
});

it('names lines of ends that the program writes', () => {
  const ends = rowsBelow('docs/guide/failures.md', 'The log')
    .flatMap(({ cells }) => [
      ...cells
        .slice(1)
        .join(' ')
        .matchAll(/`([^`]* again[^`]*|[^`]* back in [^`]*)`/g),
    ])
    .map(([, line]) => line as string);
  expect(ends.length).toBeGreaterThan(4);
  expect(unknownOf(ends)).toEqual([]);
});

it('says what a start that fails says', () => {
  const rows = rowsBelow('docs/guide/failures.md', 'A gateway that does not start');
  const known = rows.filter(({ named }) => unknownOf(named).length === 0);
  // One of them has a code of the system in the middle of its sentence.
  expect(known.length).toBeGreaterThanOrEqual(rows.length - 1);
});

it('explains every way in which the tests of this folder break a provider', () => {
  const fields = rowsBelow('docs/guide/failures.md', 'A generation that failed').flatMap(
    ({ named }) => named,
  );
  const broken = read('test/program/worst-hour/providers.test.ts');
  const codes = [
    ...[...broken.matchAll(/errno: '([A-Z_]+)'/g)].map(([, code]) => code),
    ...[...broken.matchAll(/upstream_status: (\d+)/g)].map(([, status]) => status),
  ].filter((code) => code !== '400');
  expect(codes.length).toBeGreaterThan(8);
  expect(codes.filter((code) => !fields.includes(code as string))).toEqual([]);
});
