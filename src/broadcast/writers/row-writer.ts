import { hash } from 'node:crypto';
import { wellFormedJson } from '../../kit/json/well-formed-json.ts';
import { SharedTurn, type Sliced } from '../../kit/loop/turns.ts';
import type { RowTarget } from '../destination-target.ts';
import { together } from '../encode-traces.ts';
import type { FilterFacts } from '../filter-fields.ts';
import { generationSpans } from '../spans/generation-spans.ts';
import { TRACE_COLUMNS, traceRow } from './trace-rows.ts';
import type { Write, WriterDependencies } from './writer.ts';

/** Writes rows to a table of ClickHouse: one statement for all generations. */
export function rowWriter(
  { url, database, table, headers }: RowTarget,
  dependencies: WriterDependencies,
): Write {
  const { send } = dependencies;
  const statement = `INSERT INTO ${database}.${table} (${TRACE_COLUMNS.join(', ')}) FORMAT JSONEachRow`;
  return async (generations, signal) => {
    const body = await new SharedTurn(signal).run(rowsOf(generations, dependencies));
    const asked = new URLSearchParams({ query: statement, insert_deduplication_token: tokenOf(generations) });
    await send(
      `${url}/?${asked}`,
      { method: 'POST', headers: { ...headers, 'content-type': 'application/x-ndjson' }, body },
      signal,
    );
  };
}

function* rowsOf(generations: readonly FilterFacts[], { sent, version }: WriterDependencies): Sliced<Buffer> {
  const parts: Buffer[] = [];
  for (const some of together(generations)) {
    const spans = some.flatMap((each) => generationSpans(each, sent));
    parts.push(Buffer.from(spans.map((span) => `${wellFormedJson(traceRow(span, version))}\n`).join('')));
    yield;
  }
  return Buffer.concat(parts);
}

/** Names a batch: a table that keeps such tokens takes the same generations once. */
function tokenOf(generations: readonly FilterFacts[]): string {
  return hash('sha256', generations.map(({ generation }) => generation.id).join('\n'));
}
