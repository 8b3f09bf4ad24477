import type { SchemaRecords } from '../sql/schema-state.ts';

/** Maximum of files whose content is examined. */
export const MAX_EXAMINED_FILES = 20_000;

/** The records of a schema from rows of `QUERIES`. */
export function recordsOf(
  applied: readonly { readonly name: string }[],
  required: readonly { readonly requires: string }[],
): SchemaRecords {
  return { applied: applied.map(({ name }) => name), required: required.map(({ requires }) => requires) };
}

/** Queries that work on both engines. */
export const QUERIES = {
  migrations: 'select name from schema_migrations',
  requirements: 'select requires from schema_requirements',
  lastSettled: 'select max(settled_at_ms) as at from generations',
  anApp: 'select id from apps limit 1',
  files: `select id, size_bytes as bytes from files order by id limit ${MAX_EXAMINED_FILES}`,
} as const;

/** Tables with encrypted secrets. */
export const SECRET_TABLES = ['byok_credentials', 'destinations'] as const;

/** The query for the ids of the keys that secrets of a table are encrypted under. */
export function encryptionKeysIn(table: (typeof SECRET_TABLES)[number]): string {
  return `select distinct encryption_key_id as id from ${table} where encryption_key_id is not null`;
}

/** Each id once, in order. */
export function keyIdsOf(rows: readonly { readonly id: string }[]): string[] {
  return [...new Set(rows.map(({ id }) => id))].sort();
}
