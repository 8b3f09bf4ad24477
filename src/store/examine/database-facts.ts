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
  encryptionKeyIds:
    'select distinct encryption_key_id as id from byok_credentials where encryption_key_id is not null order by 1',
  lastSettled: 'select max(settled_at_ms) as at from generations',
  anApp: 'select id from apps limit 1',
  files: `select id, size_bytes as bytes from files order by id limit ${MAX_EXAMINED_FILES}`,
} as const;
