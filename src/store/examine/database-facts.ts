import { type Kysely, sql } from 'kysely';
import type { DatabaseFacts } from '../../ports/installation/store-facts.ts';
import { readSchema, tablesThere } from '../sql/migrate.ts';
import type { SqlEngine } from '../sql/migrations/migration.ts';
import type { Tables } from '../sql/tables.ts';

/** Maximum of files whose content is examined. */
export const MAX_EXAMINED_FILES = 20_000;

/** Tables with encrypted secrets. */
const SECRET_TABLES = ['byok_credentials', 'destinations', 'gateway_providers'];

/** The rows of a query; none while its table is missing. */
export type RowReader = <Row>(table: string, query: string) => Promise<readonly Row[]>;

export async function rowReader(database: Kysely<Tables>, engine: SqlEngine): Promise<RowReader> {
  const tables = await tablesThere(database, engine);
  return async <Row>(table: string, query: string) =>
    tables.has(table) ? (await sql.raw<Row>(query).execute(database)).rows : [];
}

/** What is read of a database of either engine. */
export async function databaseFacts(
  database: Kysely<Tables>,
  engine: SqlEngine,
  rows: RowReader,
): Promise<Omit<DatabaseFacts, 'roundTripMs' | 'bytes'>> {
  const keyIds = new Set<string>();
  for (const table of SECRET_TABLES) {
    const query = `select distinct encryption_key_id as id from ${table} where encryption_key_id is not null`;
    for (const { id } of await rows<{ id: string }>(table, query)) keyIds.add(id);
  }
  const [settled] = await rows<{ at: unknown }>(
    'generations',
    'select max(settled_at_ms) as at from generations',
  );
  const apps = await rows('apps', 'select id from apps limit 1');
  const files = await rows<{ id: string; bytes: unknown }>(
    'files',
    `select id, size_bytes as bytes from files order by id limit ${MAX_EXAMINED_FILES}`,
  );
  return {
    schema: await readSchema(database, engine),
    encryptionKeyIds: [...keyIds].sort(),
    lastSettledAtMs: settled?.at == null ? undefined : Number(settled.at),
    hasApps: apps.length > 0,
    files: files.map(({ id, bytes }) => ({ id, bytes: Number(bytes) })),
  };
}
