import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { KnownFile } from '../ports/installation/store-facts.ts';
import { checkFiles } from './check-files.ts';
import type { Situation } from './situation.ts';

const idOf = (letter: string) => `file_${letter.repeat(24)}`;
const known = (...letters: string[]): KnownFile[] =>
  letters.map((letter) => ({ id: idOf(letter), bytes: 3 }));

let dataDir: string;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  await mkdir(join(dataDir, 'files'));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

function look(kind: 'sqlite' | 'postgres', files: readonly KnownFile[], later = files) {
  return checkFiles({
    runtime: { dataDir },
    directory: { kind: 'there' },
    bucket: async () => null,
    database: Promise.resolve({ kind, facts: { files } }),
    lookAgain: async () => ({ kind, facts: { files: later } }),
  } as unknown as Situation);
}

const store = (letter: string, content = 'abc') =>
  writeFileSync(join(dataDir, 'files', idOf(letter)), content);

it('reports nothing if no file is stored', async () => {
  writeFileSync(join(dataDir, 'files', `${idOf('a')}.draft`), 'abc');
  expect(await look('sqlite', [])).toEqual([]);
});

it('does not report a file that was deleted meanwhile', async () => {
  store('a');
  const [finding] = await look('sqlite', known('a', 'b'), known('a'));
  expect(finding).toMatchObject({ verdict: 'ok', figures: { without_content: 0 } });
});

it('names a few of many missing files', async () => {
  const [finding] = await look('sqlite', known('a', 'b', 'c', 'd'));
  expect(finding?.verdict).toBe('problem');
  expect(finding?.what).toMatch(/^4 of 4 stored files have no content.*file_c{24} and others$/);
});

it('assumes that missing content is at other gateways of a shared database', async () => {
  store('a');
  expect(await look('postgres', known('a', 'b'))).toMatchObject([
    { verdict: 'ok', what: expect.stringContaining('1 of 2 stored files'), figures: { without_content: 1 } },
  ]);
  store('a', 'abcd');
  expect(await look('postgres', known('a', 'b'))).toMatchObject([
    { verdict: 'problem', what: expect.stringMatching(/^1 of 2 stored files has no content/) },
  ]);
});
