import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../../test/adapters/contracts/temporary-directory.ts';
import { JournalDisk } from '../../../test/program/faults/journal-disk.ts';
import type { Durability, Journal, JournalPosition } from '../../ports/money/journal.ts';
import { MAX_RECORD_BYTES } from './frame.ts';
import { type JournalOptions, openJournal } from './open-journal.ts';

describe('a journal on a real disk', () => {
  let temporary: ReturnType<typeof temporaryDirectory>;
  let directory: string;

  beforeEach(() => {
    temporary = temporaryDirectory();
    directory = join(temporary.path, 'data', 'journal');
  });

  afterEach(() => temporary.remove());

  async function reopened(options: Partial<JournalOptions> = {}) {
    const texts: string[] = [];
    const opened = await openJournal({
      directory,
      reservedBytes: 1000,
      replay: ({ record }) => texts.push(Buffer.from(record).toString()),
      ...options,
    });
    return { ...opened, texts };
  }

  it('makes its directory for its owner alone, and gives back what was appended', async () => {
    const { journal, texts } = await reopened();
    expect(texts).toEqual([]);
    await Promise.all([
      journal.append(Buffer.from('one'), 'power'),
      journal.append(Buffer.from('two'), 'process'),
      journal.append(Buffer.from('three'), 'power'),
    ]);
    await journal.close();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory).sort()).toEqual(['0000000001.journal', 'reserve']);
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'reserve')).size).toBe(1000);
    const again = await reopened();
    expect(again.texts).toEqual(['one', 'two', 'three']);
    expect(again.tornTails).toEqual([]);
    await again.journal.close();
  });

  it('writes what was appended before it was closed', async () => {
    const { journal } = await reopened();
    const appended = journal.append(Buffer.from('late'), 'power');
    await journal.close();
    expect(await appended).toEqual({ segment: 1, offset: 44 });
    await expect(journal.append(Buffer.from('too late'), 'power')).rejects.toThrow('the journal is closed');
    const again = await reopened();
    expect(again.texts).toEqual(['late']);
    await again.journal.close();
  });

  it('removes segments that end at or before a position, never the current one', async () => {
    const { journal } = await reopened({ segmentBytes: 59 });
    const positions: JournalPosition[] = [];
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      positions.push(await journal.append(Buffer.from(text), 'power'));
    }
    expect(positions.map(({ segment }) => segment)).toEqual([1, 1, 2, 3, 4]);
    expect(journal.size).toEqual({ segments: 4, bytes: 58 + 45 + 44 + 44 });
    await journal.release(positions[0]!);
    expect(journal.size.segments).toBe(4);
    await Promise.all([journal.release(positions[2]!), journal.release(positions[2]!)]);
    expect(journal.size).toEqual({ segments: 2, bytes: 88 });
    await journal.release({ segment: 99, offset: 0 });
    expect(journal.size).toEqual({ segments: 1, bytes: 44 });
    await journal.close();
    const again = await reopened();
    expect(again.texts).toEqual(['five']);
    expect(await again.journal.append(Buffer.from('six'), 'power')).toEqual({ segment: 5, offset: 43 });
    await again.journal.close();
  });

  it('is read back while it is open, in portions, and removes no segment meanwhile', async () => {
    const { journal } = await reopened({ segmentBytes: 400_000 });
    const text = (index: number) => `${index}`.padEnd(1_000, 'x');
    for (let index = 0; index < 600; index++) await journal.append(Buffer.from(text(index)), 'process');
    const texts: string[] = [];
    let portions = 0;
    let released: Promise<void> | undefined;
    for await (const entries of journal.read()) {
      released ??= journal.release(journal.end);
      portions += 1;
      texts.push(...entries.map(({ record }) => Buffer.from(record).toString()));
    }
    expect(texts).toEqual(Array.from({ length: 600 }, (_, index) => text(index)));
    expect(portions).toBeGreaterThan(4);
    await released;
    expect(journal.size.segments).toBe(1);
    await journal.close();
  });

  it('does not pile up segments when it is opened again and again', async () => {
    const { journal } = await reopened();
    await journal.append(Buffer.from('one'), 'power');
    await journal.close();
    for (let each = 0; each < 3; each++) await (await reopened()).journal.close();
    const again = await reopened();
    expect(again.journal.size.segments).toBe(5);
    expect(again.journal.end).toEqual({ segment: 5, offset: 28 });
    await again.journal.release(again.journal.end);
    expect(again.journal.size.segments).toBe(1);
    await again.journal.close();
  });

  describe('whose last segment has no whole header', () => {
    const last = '0000000003.journal';

    beforeEach(async () => {
      const { journal } = await reopened({ segmentBytes: 40 });
      for (const text of ['one', 'two', 'three']) await journal.append(Buffer.from(text), 'power');
      await journal.close();
    });

    it('begins it anew, with its number', async () => {
      truncateSync(join(directory, last), 20);
      const { journal, texts, tornTails } = await reopened();
      expect(texts).toEqual(['one', 'two']);
      expect(tornTails).toEqual([{ file: join(directory, last), offset: 0, bytes: 20 }]);
      expect(await journal.append(Buffer.from('four'), 'power')).toEqual({ segment: 3, offset: 44 });
      await journal.close();
      const again = await reopened();
      expect(again.texts).toEqual(['one', 'two', 'four']);
      expect(again.tornTails).toEqual([]);
      await again.journal.close();
    });

    it('does not count from 1 again when no other segment is there', async () => {
      const { journal } = await reopened();
      await journal.release(journal.end);
      await journal.close();
      const sole = '0000000004.journal';
      expect(readdirSync(directory).filter((name) => name.endsWith('.journal'))).toEqual([sole]);
      truncateSync(join(directory, sole), 0);
      const again = await reopened();
      expect(again.found).toEqual({ oldest: 4, newest: 4 });
      expect(again.journal.end).toEqual({ segment: 4, offset: 28 });
      expect(again.journal.size).toEqual({ segments: 1, bytes: 28 });
      await again.journal.close();
    });
  });

  it('changes nothing if `validate` throws', async () => {
    const { journal } = await reopened();
    await journal.append(Buffer.from('one'), 'power');
    await journal.close();
    truncateSync(join(directory, '0000000001.journal'), 42);
    const before = readdirSync(directory);
    const validate = () => {
      throw new Error('that is not all');
    };
    await expect(reopened({ validate })).rejects.toThrow('that is not all');
    expect(readdirSync(directory)).toEqual(before);
    expect(readFileSync(join(directory, '0000000001.journal'))).toHaveLength(42);
  });

  it('says which directory cannot be made', async () => {
    const inNothing = '/proc/signalbox/journal';
    await expect(openJournal({ directory: inNothing, replay() {} })).rejects.toThrow(
      `the directory ${inNothing} cannot be made (ENOENT)`,
    );
  });

  it('fails with the error that its listener throws', async () => {
    const { journal } = await reopened();
    await journal.append(Buffer.from('one'), 'power');
    await journal.close();
    const replay = () => {
      throw new Error('cannot be understood');
    };
    await expect(reopened({ replay })).rejects.toThrow('cannot be understood');
  });
});

describe('a journal on a disk with injected failures', () => {
  let disk: JournalDisk;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    disk = new JournalDisk();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  async function opened(options: Partial<JournalOptions> = {}): Promise<Journal> {
    const opening = openJournal({ directory: '', reservedBytes: 300, replay() {}, ...options }, disk);
    await disk.quiesce();
    return (await opening).journal;
  }

  /** Appends, and keeps what became of it: a position, the name of an error, or nothing yet. */
  function append(journal: Journal, durability: Durability, bytes = 10) {
    const appended: { outcome?: 'done' | string } = {};
    journal.append(Buffer.alloc(bytes, 'x'), durability).then(
      () => {
        appended.outcome = 'done';
      },
      (error) => {
        appended.outcome = `${error.name}: ${error.message}`;
      },
    );
    return appended;
  }

  const append20 = (journal: Journal, durability: Durability) =>
    Array.from({ length: 20 }, () => append(journal, durability));

  it('knows its next position while the disk refuses a new segment', async () => {
    disk.setContent('0000000007.journal', Buffer.alloc(3));
    disk.capacity = 0;
    const journal = await opened();
    expect(journal.isWritable).toBe(false);
    expect(journal.end).toEqual({ segment: 7, offset: 28 });
    disk.planNothing();
    vi.advanceTimersByTime(250);
    await disk.quiesce();
    expect(journal.isWritable).toBe(true);
    expect(journal.end).toEqual({ segment: 7, offset: 28 });
  });

  it('writes in one go what gathers while the disk is busy, and syncs it once', async () => {
    const journal = await opened();
    const before = disk.operations;
    const first = append(journal, 'power');
    await disk.pass(0);
    const others = append20(journal, 'power');
    await disk.quiesce();
    expect([first, ...others].every(({ outcome }) => outcome === 'done')).toBe(true);
    expect(disk.operations - before).toBe(2);
  });

  it('makes what was only written durable together with a record that must be', async () => {
    const journal = await opened();
    const early = append(journal, 'process');
    await disk.quiesce();
    const before = disk.operations;
    const late = append(journal, 'power');
    await disk.quiesce();
    expect([early, late].map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(disk.operations - before).toBe(1);
    // Of what was not synced nothing is left.
    disk.endMachine(() => 0);
    expect(disk.contentOf('0000000001.journal')).toHaveLength(journal.end.offset);
  });

  it('syncs after a write what is too much to be written again', async () => {
    const journal = await opened();
    const large = () => journal.append(Buffer.alloc(40_000, 'x'), 'process');
    const written = Promise.all([large(), large()]);
    await disk.quiesce();
    await written;
    const before = disk.operations;
    const late = append(journal, 'power');
    await disk.quiesce();
    expect(late.outcome).toBe('done');
    expect(disk.operations - before).toBe(2);
    disk.endMachine(() => 0);
    expect(disk.contentOf('0000000001.journal')).toHaveLength(journal.end.offset);
  });

  it('writes the appends of one turn together, and syncs none that only has to survive the process', async () => {
    const journal = await opened();
    const before = disk.operations;
    const all = append20(journal, 'process');
    await disk.quiesce();
    expect(all.every(({ outcome }) => outcome === 'done')).toBe(true);
    expect(disk.operations - before).toBe(1);
  });

  describe('whose last sync served several', () => {
    async function busy(): Promise<Journal> {
      const journal = await opened();
      append20(journal, 'power');
      await disk.quiesce();
      return journal;
    }

    it('writes at once and gathers for the next sync; appends that need no sync do not wait', async () => {
      const journal = await busy();
      const before = disk.operations;
      const first = append(journal, 'power');
      await disk.quiesce();
      const second = append(journal, 'power');
      const less = append(journal, 'process');
      await disk.quiesce();
      expect([first, second, less].map(({ outcome }) => outcome)).toEqual([undefined, undefined, 'done']);
      vi.advanceTimersByTime(2);
      await disk.quiesce();
      expect([first.outcome, second.outcome]).toEqual(['done', 'done']);
      expect(disk.operations - before).toBe(3);
    });

    it('does not gather when the last sync served one append', async () => {
      const journal = await busy();
      append(journal, 'power');
      await disk.quiesce();
      vi.advanceTimersByTime(2);
      await disk.quiesce();
      const alone = append(journal, 'power');
      await disk.quiesce();
      expect(alone.outcome).toBe('done');
    });

    it('syncs what has gathered before it goes on elsewhere after a failure', async () => {
      const journal = await busy();
      const gathering = append(journal, 'power');
      await disk.quiesce();
      disk.plan(0, { kind: 'EIO', done: 0 });
      const failing = append(journal, 'process');
      await disk.quiesce();
      expect([gathering.outcome, failing.outcome]).toEqual(['done', 'done']);
    });

    it('rejects what has gathered when that cannot be synced', async () => {
      const journal = await busy();
      const gathering = append(journal, 'power');
      await disk.quiesce();
      disk.plan(0, { kind: 'EIO', done: 0, times: 3 });
      append(journal, 'process');
      await disk.quiesce();
      expect(gathering.outcome).toMatch('JournalUnavailable');
    });

    it('syncs what has gathered when it is closed', async () => {
      const journal = await busy();
      const gathering = append(journal, 'power');
      await disk.quiesce();
      void journal.close();
      await disk.quiesce();
      expect(gathering.outcome).toBe('done');
    });
  });

  it('resolves appends that need no sync before it', async () => {
    const journal = await opened();
    const less = append(journal, 'process');
    const more = append(journal, 'power');
    await disk.pass(1);
    expect([less.outcome, more.outcome]).toEqual(['done', undefined]);
    await disk.pass(1);
    expect(more.outcome).toBe('done');
  });

  it('refuses appends beyond its bounds', async () => {
    const journal = await opened({ maxWaitingBytes: 100 });
    const all = append20(journal, 'power');
    await disk.quiesce();
    expect(all.filter(({ outcome }) => outcome === 'done')).toHaveLength(4);
    expect(all.at(-1)?.outcome).toBe(
      'JournalUnavailable: the disk does not keep up with the journal; try again later',
    );
    expect(journal.isWritable).toBe(true);
  });

  it('refuses records of no length or too much', async () => {
    const journal = await opened();
    await expect(journal.append(Buffer.alloc(0), 'power')).rejects.toThrow(RangeError);
    await expect(journal.append(Buffer.alloc(MAX_RECORD_BYTES + 1), 'power')).rejects.toThrow(RangeError);
  });

  it('writes open work into its reserve when the disk is full, then refuses, then recovers', async () => {
    const journal = await opened();
    disk.capacity = disk.usedBytes + 30;
    const underWay = [append(journal, 'power', 100), append(journal, 'power', 100)];
    await disk.quiesce();
    expect(underWay.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(journal.isWritable).toBe(false);
    const tooMuch = append(journal, 'power', 200);
    await disk.quiesce();
    expect(tooMuch.outcome).toBe(
      'JournalUnavailable: the journal cannot be written (ENOSPC); it goes on by itself once the disk of /journal/ has room and works',
    );
    expect(disk.contentOf('reserve')).toBeUndefined();
    disk.capacity = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(250);
    await disk.quiesce();
    expect(journal.isWritable).toBe(true);
    expect(disk.contentOf('reserve')).toHaveLength(300);
    const after = append(journal, 'power', 200);
    await disk.quiesce();
    vi.advanceTimersByTime(2);
    await disk.quiesce();
    expect(after.outcome).toBe('done');
  });

  it('retries on a full disk at most every 250 ms', async () => {
    const journal = await opened({ reservedBytes: 0 });
    disk.capacity = disk.usedBytes;
    append(journal, 'power');
    await disk.quiesce();
    const before = disk.operations;
    const refused = append20(journal, 'power');
    vi.advanceTimersByTime(249);
    await disk.quiesce();
    expect(refused.every(({ outcome }) => outcome?.startsWith('JournalUnavailable'))).toBe(true);
    expect(disk.operations).toBe(before);
    vi.advanceTimersByTime(1);
    await disk.quiesce();
    expect(disk.operations).toBeGreaterThan(before);
    expect(journal.isWritable).toBe(false);
  });

  it('makes no new segment for every record that did not fit', async () => {
    const journal = await opened({ reservedBytes: 0 });
    for (let each = 0; each < 5; each++) {
      disk.capacity = disk.usedBytes + 40;
      const tooMuch = append(journal, 'power', 100);
      await disk.quiesce();
      expect(tooMuch.outcome).toMatch(/ENOSPC/);
      vi.advanceTimersByTime(250);
      await disk.quiesce();
      expect(journal.isWritable).toBe(true);
    }
    expect(disk.usedBytes).toBe(28);
  });

  it('opens on a full disk, and becomes writable when there is room', async () => {
    disk.capacity = 0;
    const journal = await opened();
    expect(journal.isWritable).toBe(false);
    await expect(journal.append(Buffer.from('x'), 'power')).rejects.toThrow('cannot be written (ENOSPC)');
    disk.capacity = Number.POSITIVE_INFINITY;
    vi.advanceTimersByTime(250);
    await disk.quiesce();
    expect(journal.isWritable).toBe(true);
  });

  it('goes on in a new segment after a failed sync, and rejects only the appends that waited for it', async () => {
    const journal = await opened();
    const less = append(journal, 'process');
    const more = append(journal, 'power');
    disk.plan(1, { kind: 'EIO', done: 0 });
    await disk.quiesce();
    expect(less.outcome).toBe('done');
    expect(more.outcome).toMatch(/^JournalUnavailable: the journal cannot be written \(EIO\)/);
    expect(journal.isWritable).toBe(false);
    vi.advanceTimersByTime(250);
    await disk.quiesce();
    expect(journal.isWritable).toBe(true);
    expect(journal.size.segments).toBe(2);
  });

  it('leaves no timer behind when it is closed', async () => {
    disk.capacity = 0;
    const journal = await opened();
    void journal.close();
    await disk.quiesce();
    expect(vi.getTimerCount()).toBe(0);
  });
});
