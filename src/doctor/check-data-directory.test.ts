import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { DirectoryFacts } from '../store/examine/examine-directory.ts';
import { checkDataDirectory, shellWord } from './check-data-directory.ts';
import type { Situation } from './situation.ts';

const SOUND: DirectoryFacts = {
  ownerId: 0,
  mode: 0o700,
  writeProblem: undefined,
  freeBytes: 2 ** 40,
  freeFiles: 1e6,
  openSecrets: [],
  foreignFiles: [],
  setAside: [],
};

const look = (facts: Partial<DirectoryFacts>) =>
  checkDataDirectory({
    runtime: { dataDir: '/d' },
    directory: { kind: 'there', facts: { ...SOUND, ...facts } },
    holder: { kind: 'process' },
  } as unknown as Situation);

it.each([
  [{}, 'ok', '1.0 TiB free'],
  [{ freeBytes: 2 ** 30 }, 'ok', '1.0 GiB free'],
  [{ freeBytes: 2 ** 30 - 1 }, 'warning', '1024.0 MiB free'],
  [{ freeBytes: 2 ** 26 - 1 }, 'problem', '64.0 MiB free'],
  [{ freeFiles: 9_999 }, 'warning', 'room for 9999 more files'],
  [{ freeFiles: 1 }, 'problem', 'room for 1 more file'],
  [{ freeFiles: undefined }, 'ok', '1.0 TiB free'],
  [{ writeProblem: 'EROFS', ownerId: 7 }, 'problem', '/d is not writable, it belongs to user 7 (EROFS)'],
])('finds %j', async (facts, verdict, what) => {
  const [finding] = await look(facts);
  expect(finding).toMatchObject({ verdict, what: expect.stringContaining(what) });
  expect(finding?.mend === null).toBe(verdict === 'ok');
});

it.each([
  ['/var/lib/signalbox', '/var/lib/signalbox'],
  ['/my data', "'/my data'"],
  ["/it's", String.raw`'/it'\''s'`],
  ['a\nb', String.raw`$'a\U0000000ab'`],
])('quotes %j', (text, word) => {
  expect(shellWord(text)).toBe(word);
});

it.each(['/plain', 'two words', "it's $HOME; `x`", "line\nbreak 'and' \\ more\u001b[2J", ''])(
  'quotes %j so that a shell reads the same text',
  (text) => {
    const echoed = execFileSync('bash', ['-c', `printf %s ${shellWord(text)}`]);
    expect(echoed.toString()).toBe(text);
  },
);
