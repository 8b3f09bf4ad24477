import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/adapters/contracts/temporary-directory.ts';
import { diskFilesIn } from './disk-files.ts';
import { DiskWatch } from './disk-watch.ts';
import type { JournalFiles } from './journal-files.ts';
import { openJournal } from './open-journal.ts';

const RECORD = Buffer.from('record');

/** Files on a disk that can be frozen: writes wait until it is thawed. */
class FreezingFiles {
  #thawed = Promise.resolve();
  #thaw = () => {};

  freeze(): void {
    this.#thawed = new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#thaw();
  }

  of(files: JournalFiles): JournalFiles {
    return {
      ...files,
      open: async (name, mode) => {
        const file = await files.open(name, mode);
        return {
          ...file,
          write: async (bytes, position) => {
            await this.#thawed;
            return file.write(bytes, position);
          },
          writeDurably: async (bytes, position) => {
            await this.#thawed;
            return file.writeDurably(bytes, position);
          },
        };
      },
    };
  }
}

describe('a journal on a disk that does not answer', () => {
  const temporary = temporaryDirectory();
  afterEach(() => temporary.remove());

  it('says for how long it waits, logs begin and end once, and goes on', async () => {
    const disk = new FreezingFiles();
    const logged: string[] = [];
    const { journal } = await openJournal(
      {
        directory: '',
        reservedBytes: 0,
        disk: { slowMs: 20, longMs: 60, warn: (message) => logged.push(message) },
        replay() {},
      },
      disk.of(diskFilesIn(temporary.path)),
    );
    // Opening may itself have met a busy disk.
    const slowBefore = journal.disk.slowWrites;
    logged.length = 0;
    disk.freeze();
    const appended = journal.append(RECORD, 'power');
    await expect.poll(() => logged).toEqual([expect.stringContaining('waits for its disk')]);
    expect(journal.disk.waitingMs).toBeGreaterThan(20);
    disk.thaw();
    await appended;
    await expect.poll(() => logged).toEqual([expect.anything(), 'the disk of the ledger answers again']);
    expect(journal.disk.slowWrites).toBeGreaterThan(slowBefore);
    expect(journal.disk.longestMs).toBeGreaterThan(20);
    await journal.append(RECORD, 'power');
    await journal.close();
    expect(journal.disk.waitingMs).toBe(0);
  });

  it('logs a few waits a minute, with the number of slow writes', async () => {
    const logged: (readonly [string, unknown])[] = [];
    const watch = new DiskWatch({
      slowMs: 5,
      longMs: 10,
      path: '/data/journal',
      warn: (message, fields) => logged.push([message, fields]),
    });
    for (let writes = 0; writes < 12; writes++) await watch.during(() => delay(40));
    watch.close();
    const begun = logged.filter(([message]) => message.startsWith('the ledger waits'));
    expect(begun).toHaveLength(3);
    expect(begun[0]?.[1]).toMatchObject({ path: '/data/journal', slow_writes: 1 });
    expect(logged).toHaveLength(6);
    expect(watch.slowWrites).toBe(12);
  });
});
