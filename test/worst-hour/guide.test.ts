import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The program's own text, with pieces of long texts put together and names in texts left out. */
const source = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => read(join('src', path)))
  .join('\n')
  .replace(/['`] \+\s*['`]/g, '')
  .replace(/the projection \$\{this\.name\}/g, 'the projection generations');

/** Log lines that a table of the guide names in its first column. */
function namedLines(page: string, heading: string): string[] {
  const section = read(page).split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const cells = section.split('\n').map((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, line]) => line as string));
}

it('names only lines that the program writes', () => {
  const lines = namedLines('docs/guide/running.md', 'What the log says');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !source.includes(`${line.replace(/ ?\.\.\.$/, '')}`))).toEqual([]);
});
