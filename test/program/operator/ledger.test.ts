import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openInstallation } from '../../../src/app/installation.ts';
import { crc32 } from '../../../src/kit/crypto/crc32.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';
import { holdDirectory, killHard, signalbox, typed } from '../../kit/program.ts';

let temporary: ReturnType<typeof temporaryDirectory>;
let dataDir: string;

beforeEach(async () => {
  temporary = temporaryDirectory();
  dataDir = join(temporary.path, 'data');
  writeFileSync(join(temporary.path, 'signalbox.yaml'), '');
  const { accounts, keys, credits, ledger, close } = await openInstallation({
    dataDir,
    keyPrefix: 'sk-',
    initialUsd: () => null,
  });
  const { id } = await accounts.ensureFirst();
  const { key } = await keys.issue({ name: 'n' });
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
  await ledger.settle('gen-1', {
    used: { creditNanos: 2_500_000_000n, byokNanos: 0n },
    uncharged: [{ cause: 'time_limit', nanos: 1_500_000_000n }],
    row: {},
    atMs,
  });
  await close();
});

afterEach(() => temporary.remove());

const run = (...words: string[]) =>
  typed(['ledger', ...words, '--data-dir', dataDir, '--config', join(temporary.path, 'signalbox.yaml')]);

const account = {
  id: expect.any(String),
  name: 'default',
  granted_usd: 10,
  settled_usd: 2.5,
  reserved_usd: 0,
  left_usd: 7.5,
  difference_nanos: 0,
  fault: null,
  written_off_usd: 1.5,
  written_off_by_cause: { time_limit: 1.5 },
};

describe('ledger verify', () => {
  it('prints the equation of every account, and exits 0 while it holds', async () => {
    const { code, out, err } = await run('verify', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual({
      accounts: [account],
      open_reservations: 0,
      generations: 1,
      journal: { segments: expect.any(Number), bytes: expect.any(Number), torn_tail_bytes: 0 },
    });
    const people = await run('verify');
    expect(people.out).toMatch(/default +10\.00 +2\.50 +0\.00 +7\.50 +0 /);
    expect(people.out).toMatch(/LEFT +DIFFERENCE +WRITTEN OFF +ID/);
    expect(people.out).toContain('Written off of default by cause: time_limit 1.50.');
    expect(people.out).toContain('The books are right.');
  });

  it('exits 1 if it does not hold', async () => {
    const file = join(dataDir, 'journal', 'ledger.snapshot');
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -2);
    const wrong = `${lines.join('\n').replace('"leftNanos":"7500000000"', '"leftNanos":"7500000001"')}\n`;
    writeFileSync(file, `${wrong}${crc32(Buffer.from(wrong))}\n`);
    const { code, out } = await run('verify', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out).accounts).toEqual([
      { ...account, left_usd: 7.500000001, difference_nanos: -1, fault: 'equation' },
    ]);
    expect((await run('verify')).out).toContain('The books are WRONG for default: granted - settled');
  });

  it('works beside a running gateway', async () => {
    const holder = await holdDirectory(dataDir, true);
    try {
      const { code, out } = await run('verify', '--json');
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ accounts: [account], generations: 1 });
      expect(JSON.parse((await run('rebuild', '--json')).out)).toEqual({ generations: 1, events: 1 });
    } finally {
      await killHard(holder);
    }
  });
});

describe('a journal that was lost', () => {
  const MESSAGE = /^signalbox: the journal in .* holds no records, but the database .* knows of record \d+: /;

  beforeEach(() => {
    cpSync(join(dataDir, 'journal'), join(temporary.path, 'backup'), { recursive: true });
    rmSync(join(dataDir, 'journal'), { recursive: true });
  });

  it.each([
    ['ledger', 'verify'],
    ['serve', '--port', '0'],
  ])('stops %s %s', (...words) => {
    const { code, out, err } = signalbox(temporary.path, words);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(MESSAGE);
    expect(err).toContain('put both back from the same backup');
  });

  it('can be restored from a backup after a failed start without it', async () => {
    await run('verify');
    cpSync(join(temporary.path, 'backup'), join(dataDir, 'journal'), { recursive: true });
    expect(JSON.parse((await run('verify', '--json')).out).accounts).toEqual([account]);
  });

  it('is no longer needed once the loss is accepted, which works once', async () => {
    expect(JSON.parse((await run('accept-loss', '--json')).out)).toEqual({
      loss: { ends_at: 0, known_to: expect.any(Number) },
    });
    expect(JSON.parse((await run('verify', '--json')).out).accounts).toMatchObject([
      { settled_usd: 0, left_usd: null },
    ]);
    expect(await run('accept-loss')).toEqual({
      code: 0,
      out: 'The journal has all that the database knows of. Nothing was changed.\n',
      err: '',
    });
  });

  it('says what to check after it is accepted, and refuses if there is none', async () => {
    expect((await run('accept-loss')).out).toContain('The ledger goes on from record 0;');
    const elsewhere = signalbox(temporary.path, ['ledger', 'accept-loss'], {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    });
    expect(elsewhere).toMatchObject({ code: 1, err: expect.stringContaining('has no journal to be lost') });
  });
});

describe('a journal that was cut after a clean stop', () => {
  it.each([1, 512])('by %i bytes is good, and the log says so', async (missing) => {
    // A start without any work leaves a segment that has only a header.
    await (await openInstallation({ dataDir, keyPrefix: 'sk-' })).close();
    const name = readdirSync(join(dataDir, 'journal')).findLast((each) => each.endsWith('.journal')) ?? '';
    const file = join(dataDir, 'journal', name);
    truncateSync(file, Math.max(0, readFileSync(file).length - missing));
    const { code, out, err } = signalbox(temporary.path, ['ledger', 'verify', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ accounts: [account], generations: 1 });
    expect(err).toContain('with an incomplete header');
  });
});

describe('ledger rebuild', () => {
  it('says how many rows and events there are', async () => {
    const out = 'There are rows of 1 generation, and 1 event.\n';
    expect(await run('rebuild')).toEqual({ code: 0, out, err: '' });
    expect(JSON.parse((await run('rebuild', '--json')).out)).toEqual({ generations: 1, events: 1 });
  });
});
