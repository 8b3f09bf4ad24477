import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInstallation } from '../../src/installation.ts';
import { crc32 } from '../../src/kit/crc32.ts';
import { temporaryDirectory } from '../contracts/temporary-directory.ts';
import { holdDirectory, killHard, signalbox } from './program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;

beforeEach(async () => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  const { accounts, keys, credits, ledger, close } = await openInstallation({
    dataDir,
    keyPrefix: 'sk-',
    initialUsd: () => null,
  });
  const { id } = await accounts.ensureFirst();
  const { key } = await keys.create({ name: 'n' });
  await credits.set(id, 10_000_000_000n);
  const atMs = Date.now();
  await ledger.reserve(
    {
      generationId: 'gen-1',
      scopes: { key: key.hash, workspace: key.workspaceId, account: id },
      limits: { key: [], workspace: [] },
      atMs,
      row: {},
    },
    () => ({ creditNanos: 5_000_000_000n, byokNanos: 0n }),
  );
  await ledger.settle('gen-1', { used: { creditNanos: 2_500_000_000n, byokNanos: 0n }, row: {}, atMs });
  await close();
});

afterEach(() => temporary.remove());

const run = (...words: string[]) => signalbox(temporary.path, ['ledger', ...words]);

const account = {
  id: expect.any(String),
  name: 'default',
  granted_usd: 10,
  settled_usd: 2.5,
  reserved_usd: 0,
  left_usd: 7.5,
  difference_nanos: 0,
};

describe('ledger verify', () => {
  it('prints the equation of every account, and exits 0 while it holds', () => {
    const { code, out, err } = run('verify', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      accounts: [account],
      open_reservations: 0,
      generations: 1,
      journal: { segments: expect.any(Number), bytes: expect.any(Number), torn_tail_bytes: 0 },
    });
    const people = run('verify');
    expect(people.out).toMatch(/default +10\.00 +2\.50 +0\.00 +7\.50 +0 /);
    expect(people.out).toContain('The books are right.');
  });

  it('exits 1 where it does not hold', () => {
    const file = join(dataDir, 'journal', 'ledger.snapshot');
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -2);
    const wrong = `${lines.join('\n').replace('"leftNanos":"7500000000"', '"leftNanos":"7500000001"')}\n`;
    writeFileSync(file, `${wrong}${crc32(Buffer.from(wrong))}\n`);
    const { code, out } = run('verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out).accounts).toEqual([{ ...account, left_usd: 7.500000001, difference_nanos: -1 }]);
    expect(run('verify').out).toContain('The books are WRONG');
  });

  it('works beside a running gateway', async () => {
    const holder = await holdDirectory(dataDir, true);
    try {
      const { code, out } = run('verify', '--json');
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ accounts: [account], generations: 1 });
      expect(JSON.parse(run('rebuild', '--json').out)).toEqual({ generations: 1 });
    } finally {
      await killHard(holder);
    }
  });
});

describe('ledger rebuild', () => {
  it('says how many rows there are', () => {
    expect(run('rebuild')).toEqual({ code: 0, out: 'There are rows of 1 generations.\n', err: '' });
  });
});
