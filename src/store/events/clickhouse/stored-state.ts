import type { EventSizes } from '../../../ports/events/events.ts';
import { type ClickhouseClient, SMALL_MS } from './driver/clickhouse-client.ts';
import { requireColumns, wholeOf } from './driver/read-fields.ts';
import type { TextRow } from './driver/tab-separated.ts';
import { DAILY, EVENTS, PRUNED } from './schema.ts';

/**
 * The moment before which events were pruned; 0 = never. The first statement of each work: it notices a server that
 * hangs.
 */
export async function prunedBefore(client: ClickhouseClient, signal?: AbortSignal): Promise<number> {
  return singleNumber(await client.query(`SELECT max(before_ms) FROM ${PRUNED}`, signal, SMALL_MS));
}

/** The single number that a statement returns. */
export async function countOf(client: ClickhouseClient, sql: string, signal?: AbortSignal): Promise<number> {
  return singleNumber(await client.query(sql, signal));
}

/** 0 for NULL, and without a row. */
function singleNumber(rows: readonly TextRow[]): number {
  const [row] = rows;
  if (row === undefined) return 0;
  requireColumns(row, 1);
  return row[0] === null ? 0 : wholeOf(row[0]);
}

export async function storedSizes(client: ClickhouseClient): Promise<EventSizes> {
  const prunedBeforeMs = await prunedBefore(client);
  const tables = [EVENTS, DAILY].map((table) => `'${table}'`).join(', ');
  const [events = 0, dailyRows = 0, bytes = 0] = await Promise.all(
    [
      `SELECT count() FROM ${EVENTS} FINAL WHERE created_ms >= ${prunedBeforeMs}`,
      `SELECT count() FROM ${DAILY} FINAL`,
      `SELECT sum(bytes) FROM system.parts
        WHERE active AND database = '${client.database}' AND table IN (${tables})`,
    ].map((sql) => countOf(client, sql)),
  );
  return { events, dailyRows, bytes };
}
