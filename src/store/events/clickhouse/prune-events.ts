import type { ClickhouseClient } from './driver/clickhouse-client.ts';
import { wholeOf } from './driver/read-fields.ts';
import { EVENTS, monthOf, PRUNED, sumDaysSql, TAGS } from './schema.ts';
import { countOf } from './stored-state.ts';

/**
 * Removes events and tags before the first moment of a day and keeps daily sums of the events. Resolves with the number
 * of events removed.
 *
 * Sums first, then the mark, which makes queries read sums instead of events, then the events. A gateway that stops in
 * between has lost nothing: the next prune sums the days again. Gateways that prune at the same time may sum a day that
 * the other has half removed; of two sums the one with more requests counts.
 */
export async function pruneEvents(
  client: ClickhouseClient,
  prunedBeforeMs: number,
  beforeMs: number,
): Promise<number> {
  let removed = 0;
  if (beforeMs > prunedBeforeMs) {
    const range = `created_ms >= ${prunedBeforeMs} AND created_ms < ${beforeMs}`;
    removed = await countOf(client, `SELECT count() FROM ${EVENTS} FINAL WHERE ${range}`);
    // Without a mark, older events that arrive later are known to be new.
    if (removed > 0) {
      await client.run(sumDaysSql(prunedBeforeMs, beforeMs));
      await client.insert(PRUNED, ['before_ms'], `${beforeMs}\n`);
    }
  }
  const markedMs = removed > 0 ? beforeMs : prunedBeforeMs;
  await removeMarked(client, EVENTS, markedMs);
  await removeMarked(client, TAGS, Math.max(markedMs, beforeMs));
  return removed;
}

/** Removes what queries no longer read: whole months by their partition, the rest by a rewrite of theirs. */
async function removeMarked(client: ClickhouseClient, table: string, beforeMs: number): Promise<void> {
  if (beforeMs === 0) return;
  const months = await client.query(
    `SELECT ${monthOf('created_ms')} AS month, min(created_ms) FROM ${table}
      WHERE created_ms < ${beforeMs} GROUP BY month ORDER BY month`,
  );
  const marked = new Date(beforeMs);
  const markedMonth = marked.getUTCFullYear() * 100 + marked.getUTCMonth() + 1;
  for (const [month] of months) {
    if (wholeOf(month) < markedMonth) await client.run(`ALTER TABLE ${table} DROP PARTITION ${month}`);
    else await client.run(`ALTER TABLE ${table} DELETE WHERE created_ms < ${beforeMs}`);
  }
}
