import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DuckdbEventStore } from '../../../src/store/events/duckdb/event-store.ts';
import { eventHistory } from '../../kit/builders/event-history.ts';
import { runs } from '../../kit/builders/runs.ts';
import { EVENTS_PER_DAY, eventStoreContract } from './event-store.ts';
import { eventTagsContract } from './event-tags.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const DAYS = runs(110, 400);

eventStoreContract(
  'DuckdbEventStore',
  async () => {
    const directory = temporaryDirectory();
    const events = new DuckdbEventStore(join(directory.path, 'events.duckdb'), {
      // After the whole history.
      compactAfterEvents: DAYS * EVENTS_PER_DAY,
    });
    return {
      events,
      async close() {
        await events.close();
        directory.remove();
      },
    };
  },
  DAYS,
);

eventTagsContract('DuckdbEventStore', async () => {
  const directory = temporaryDirectory();
  const events = new DuckdbEventStore(join(directory.path, 'events.duckdb'));
  return {
    events,
    async close() {
      await events.close();
      directory.remove();
    },
  };
});

it('opens nothing before it is used', async () => {
  const directory = temporaryDirectory();
  const file = join(directory.path, 'events.duckdb');
  const events = new DuckdbEventStore(file);
  expect(existsSync(file)).toBe(false);
  await events.close();
  await expect(events.sizes()).rejects.toThrow();
  directory.remove();
});

it('has every event after an unclean stop, and recognizes duplicates', async () => {
  const directory = temporaryDirectory();
  const lost = new DuckdbEventStore(join(directory.path, 'events.duckdb'));
  const history = [...eventHistory(1_000, 3)];
  await lost.append(history.slice(0, 600));
  // The files as they are at this moment are what a process that is killed leaves behind.
  for (const name of ['events.duckdb', 'events.duckdb.wal']) {
    cpSync(join(directory.path, name), join(directory.path, `left-${name}`));
  }
  await lost.close();
  const found = new DuckdbEventStore(join(directory.path, 'left-events.duckdb'));
  expect((await found.sizes()).events).toBe(600);
  expect(await found.append(history)).toEqual({ added: 400, known: 600, tooOld: 0 });
  await found.close();
  directory.remove();
});
