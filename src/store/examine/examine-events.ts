import { stat } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import type { EventSizes } from '../../ports/events.ts';
import { DataDirectoryProblem } from '../data-directory-problem.ts';
import { DUCKDB_OPTIONS } from '../events/duckdb-options.ts';
import { ALL_DAILY, SHAPE } from '../events/schema.ts';

const COUNT = `SELECT (SELECT version FROM shape), (SELECT count(*) FROM events), (SELECT count(*) FROM ${ALL_DAILY})`;

/**
 * Counts the events of a file that nobody has open, without changing it; undefined when there is none. Rejects with a
 * DataDirectoryProblem.
 */
export async function examineEvents(file: string): Promise<EventSizes | undefined> {
  const bytes = await Promise.all([file, `${file}.wal`].map(bytesOf));
  if (bytes[0] === undefined) return undefined;
  try {
    const instance = await DuckDBInstance.create(file, { ...DUCKDB_OPTIONS, access_mode: 'READ_ONLY' });
    try {
      const connection = await instance.connect();
      const reader = await connection.runAndReadAll(COUNT);
      const [shape, events, dailyRows] = reader.getRowsJS()[0] ?? [];
      connection.closeSync();
      if (shape !== SHAPE) throw new Error(`the file has the shape ${shape}, this release reads ${SHAPE}`);
      return { events: Number(events), dailyRows: Number(dailyRows), bytes: bytes[0] + (bytes[1] ?? 0) };
    } finally {
      instance.closeSync();
    }
  } catch (error) {
    throw new DataDirectoryProblem(
      `the events in ${file} cannot be read; put the file back from a backup, or let the gateway put it aside at its next start and make it anew from the rows of generations that are kept`,
      false,
      error,
    );
  }
}

async function bytesOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(() => undefined))?.size;
}
