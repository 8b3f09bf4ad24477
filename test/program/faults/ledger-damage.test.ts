import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kit/time/clock.ts';
import type { Ledger } from '../../../src/ports/money/ledger.ts';
import { openJournal } from '../../../src/store/journal/open-journal.ts';
import { openEmbeddedLedger } from '../../../src/store/ledger/embedded/open-embedded-ledger.ts';
import { MemoryGenerations } from '../../adapters/contracts/memory-generations.ts';
import { MemoryMark } from '../../adapters/contracts/memory-mark.ts';
import { temporaryDirectory } from '../../adapters/contracts/temporary-directory.ts';

const NOW = Date.parse('2025-06-15T12:00:00Z');
const SETTLED = 20;

describe('a ledger whose journal is damaged', () => {
  let directories: ReturnType<typeof temporaryDirectory>[];
  /** A directory as kill -9 leaves it: 20 generations settled for 1 each, the last of them just now. */
  let killed: string;
  /** By directory. */
  let marks: Map<string, MemoryMark>;
  let warnings: string[];
  let close: () => Promise<void>;

  beforeEach(async () => {
    directories = [];
    warnings = [];
    marks = new Map();
    const path = newDirectory();
    const opened = await open(path, new MemoryGenerations());
    close = opened.close;
    await opened.ledger.grant('a', 100n, NOW);
    for (let index = 0; index < SETTLED; index++) await spend(opened.ledger, `g${index}`);
    killed = copyOf(path);
  });

  afterEach(async () => {
    await close();
    for (const directory of directories) directory.remove();
  });

  function newDirectory(): string {
    const directory = temporaryDirectory();
    directories.push(directory);
    marks.set(directory.path, new MemoryMark());
    return directory.path;
  }

  const markOf = (directory: string) => marks.get(directory) ?? new MemoryMark();

  function copyOf(directory: string): string {
    const copy = newDirectory();
    cpSync(directory, copy, { recursive: true });
    markOf(copy).sequence = markOf(directory).sequence;
    return copy;
  }

  const open = (directory: string, generations: MemoryGenerations) =>
    openEmbeddedLedger({
      directory,
      generations,
      mark: markOf(directory),
      exists: { key: new Set(['k']), workspace: new Set(['w']) },
      durability: () => 'power',
      clock: systemClock,
      warn: (message) => warnings.push(message),
      journal: { reservedBytes: 1024 },
    });

  const spend = async (ledger: Ledger, generationId: string) => {
    const amount = { creditNanos: 1n, byokNanos: 0n };
    await ledger.reserve(
      {
        generationId,
        scopes: { key: 'k', workspace: 'w', account: 'a' },
        limits: { key: [], workspace: [] },
        atMs: NOW,
        row: { model: 'm' },
      },
      () => amount,
    );
    await ledger.settle(generationId, { used: amount, row: { text: 'x'.repeat(600) }, atMs: NOW });
  };

  const segment = (directory: string) => {
    const name = readdirSync(join(directory, 'journal')).find((each) => each.endsWith('.journal'));
    return join(directory, 'journal', name ?? '');
  };

  /** Opens what is left and looks whether all of it is right. Resolves with how many generations were charged. */
  const reopened = async (directory: string, generations = new MemoryGenerations()) => {
    const { ledger, report, close: closeAgain } = await open(directory, generations);
    const { accounts, openReservations, journal } = await ledger.verify();
    expect(accounts).toMatchObject([{ differenceNanos: 0n, grantedNanos: 100n }]);
    expect(openReservations).toBe(0);
    expect(generations.rows.size).toBe(SETTLED);
    await closeAgain();
    expect(journal.tornTailBytes).toBe(report.tornTailBytes);
    return { settled: Number(accounts[0]?.settledNanos), tornTailBytes: report.tornTailBytes };
  };

  it.each([1, 7, 64, 300, 512])(
    'drops a last record that %d bytes are missing of, and says so',
    async (missing) => {
      const file = segment(killed);
      truncateSync(file, readFileSync(file).length - missing);
      const rows = new MemoryGenerations();
      const { settled, tornTailBytes } = await reopened(killed, rows);
      // The last one was open then, and is settled for nothing.
      expect(settled).toBe(SETTLED - 1);
      expect(tornTailBytes).toBeGreaterThan(0);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain('an unfinished record');
      expect((await reopened(killed, rows)).tornTailBytes).toBe(0);
    },
  );

  it.each([1, 50, 300, 600])(
    'drops a last record with a wrong bit %d bytes before its end',
    async (place) => {
      const file = segment(killed);
      const bytes = readFileSync(file);
      bytes[bytes.length - place] = (bytes[bytes.length - place] ?? 0) ^ 4;
      writeFileSync(file, bytes);
      const { settled, tornTailBytes } = await reopened(killed);
      expect(settled).toBe(SETTLED - 1);
      expect(tornTailBytes).toBeGreaterThan(600);
    },
  );

  it.each([
    ['that has served', 1],
    ['that had nothing to do', 0],
  ])('starts after any cut of its end after a clean stop %s, and nothing is lost', async (_, work) => {
    const closing = await open(killed, new MemoryGenerations());
    for (let index = 0; index < work; index++) await spend(closing.ledger, `last ${index}`);
    await closing.close();
    const settled = BigInt(SETTLED + work);
    for (const missing of [1, 2, 12, 27, 28, 29, 100, 511, 512]) {
      const copy = copyOf(killed);
      const file = segment(copy);
      truncateSync(file, Math.max(0, readFileSync(file).length - missing));
      warnings = [];
      const opened = await open(copy, new MemoryGenerations());
      expect((await opened.ledger.statementOf('a')).settledNanos).toBe(settled);
      expect(warnings, `${missing} bytes cut off`).toEqual([
        expect.stringMatching(/was dropped|is replaced/),
      ]);
      await spend(opened.ledger, 'later');
      await opened.close();
      warnings = [];
      const again = await open(copy, new MemoryGenerations());
      expect((await again.ledger.statementOf('a')).settledNanos).toBe(settled + 1n);
      await again.close();
      expect(warnings).toEqual([]);
    }
  });

  it('refuses to start if a record in the middle is wrong, and changes nothing', async () => {
    const file = segment(killed);
    const bytes = readFileSync(file);
    const place = bytes.length >> 1;
    bytes[place] = (bytes[place] ?? 0) ^ 4;
    writeFileSync(file, bytes);
    await expect(open(killed, new MemoryGenerations())).rejects.toThrow(/is damaged at byte \d+/);
    expect(readFileSync(file).equals(bytes)).toBe(true);
  });

  it('charges nothing twice when records come again', async () => {
    const records: Uint8Array[] = [];
    const read = await openJournal({
      directory: join(killed, 'journal'),
      reservedBytes: 0,
      replay: ({ record }) => records.push(Buffer.from(record)),
    });
    await read.journal.close();
    const twice = newDirectory();
    const { journal } = await openJournal({
      directory: join(twice, 'journal'),
      reservedBytes: 0,
      replay() {},
    });
    const again = [...records.slice(0, 15), ...records.slice(3, 15), ...records.slice(10), ...records];
    for (const record of again) await journal.append(record, 'process');
    await journal.close();
    expect(await reopened(twice)).toEqual({ settled: SETTLED, tornTailBytes: 0 });
  });
});
