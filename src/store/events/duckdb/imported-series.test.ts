import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../../test/adapters/contracts/temporary-directory.ts';
import { eventHistory } from '../../../../test/kit/builders/event-history.ts';
import { DUCKDB_OPTIONS, DuckdbThread } from './driver/duckdb-thread.ts';
import { plain } from './driver/statement.ts';
import { DuckdbEventStore } from './event-store.ts';
import { SCHEMA_VERSION } from './schema.ts';

it('takes events without an endpoint as imported in a file that does not say', async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  const file = join(directory.path, 'events.duckdb');
  const [own, other] = [...eventHistory(40, 1)].filter(({ endpoint }) => endpoint !== null);
  if (own === undefined || other === undefined) throw new Error('the history is too short');
  const before = new DuckdbEventStore(file);
  await before.append([own, { ...other, endpoint: null }]);
  await before.close();
  const settings = { file, options: DUCKDB_OPTIONS, schema: [], shape: SCHEMA_VERSION };
  const thread = new DuckdbThread(settings);
  await thread.run(plain('ALTER TABLE series DROP COLUMN is_imported'));
  await thread.run(plain('UPDATE shape SET version = 1'));
  await thread.close();
  const after = new DuckdbEventStore(file);
  await after.append([{ ...own, id: 'new', endpoint: null, isImported: false }]);
  const { rows } = await after.query({
    accountId: null,
    metrics: ['request_count'],
    dimensions: ['imported'],
    granularity: null,
    startMs: 0,
    endMs: 2 ** 45,
    filters: [],
    order: null,
    limit: 10,
    groupLimit: null,
  });
  await after.close();
  expect(rows.map(({ dimensions, metrics }) => [...dimensions, ...metrics])).toEqual([
    ['false', 2n],
    ['true', 1n],
  ]);
});
