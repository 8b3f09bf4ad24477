import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import duckdb from '@duckdb/node-bindings';
import type { EventSizes } from '../../ports/events/events.ts';
import { DataDirectoryProblem } from '../directory/data-directory-problem.ts';
import { columnsOf, openDatabase } from '../events/duckdb/driver/duckdb-driver.ts';
import { duckdbErrorOf } from '../events/duckdb/driver/duckdb-errors.ts';
import { DUCKDB_OPTIONS } from '../events/duckdb/driver/duckdb-thread.ts';
import { plain } from '../events/duckdb/driver/statement.ts';
import { ALL_DAILY, isReadableVersion, SCHEMA_VERSION } from '../events/duckdb/schema.ts';
import { DatabaseUnavailable } from '../sql/database-unavailable.ts';

const COUNT = `SELECT (SELECT version FROM shape), (SELECT count(*) FROM events), (SELECT count(*) FROM ${ALL_DAILY})`;

/** Advice when the file of events was lost. */
export const EVENTS_ADVICE =
  'restore the file from a backup; without one the next start rebuilds it from the stored rows of generations and imports, ' +
  'sums of days before the oldest row are lost';

/** Reasons by error message. First match wins. */
const REASONS: readonly (readonly [said: RegExp, reason: string])[] = [
  [/not a valid duckdb/i, 'it is not a DuckDB file'],
  [/enough bytes/i, 'its end is missing'],
  [/replaying wal/i, 'its log of writes is damaged'],
  [/checksum|corrupt|serialization/i, 'a part of it is damaged'],
  [/version number|has the shape/i, 'another version wrote it'],
  [/with name .* does not exist/i, 'it lacks the tables of this program'],
  [/permission denied/i, 'permission denied'],
  [/lock/i, 'another process has it'],
];

/**
 * Counts the events of a file that no process has open, without changing it; undefined when there is none. Rejects
 * with a DataDirectoryProblem.
 */
export async function examineEvents(file: string): Promise<EventSizes | undefined> {
  const bytes = await Promise.all([file, `${file}.wal`].map(bytesOf));
  if (bytes[0] === undefined) return undefined;
  try {
    const database = await openDatabase(file, { ...DUCKDB_OPTIONS, access_mode: 'READ_ONLY' });
    try {
      const connection = await duckdb.connect(database);
      const counts = await columnsOf(connection, plain(COUNT));
      duckdb.disconnect_sync(connection);
      const [shape, events, dailyRows] = counts.map(([count]) => count);
      if (!isReadableVersion(shape))
        throw new Error(`the file has the shape ${shape}, this release reads ${SCHEMA_VERSION}`);
      return { events: Number(events), dailyRows: Number(dailyRows), bytes: bytes[0] + (bytes[1] ?? 0) };
    } finally {
      duckdb.close_sync(database);
    }
  } catch (error) {
    throw unreadable(file, bytes[0], error);
  }
}

/** Whether a data directory has had events: the progress of their feed remains. */
export function hadEvents(directory: string): boolean {
  return existsSync(join(directory, 'events-fed.json'));
}

function unreadable(file: string, bytes: number, error: unknown): DataDirectoryProblem {
  const message = error instanceof Error ? error.message : '';
  const mayPass = duckdbErrorOf(message, true) instanceof DatabaseUnavailable;
  const reason =
    bytes === 0 ? 'it is empty' : (REASONS.find(([said]) => said.test(message))?.[1] ?? 'DuckDB refuses it');
  const mend = mayPass && bytes > 0 ? 'check its permissions and its disk' : EVENTS_ADVICE;
  return new DataDirectoryProblem(`the events in ${file} cannot be read: ${reason}; ${mend}`, false, error);
}

async function bytesOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.size;
}
