import type { Kysely } from 'kysely';
import { keyIdOf } from '../../../kit/crypto/encrypt.ts';
import type { SecretReplacement } from '../../../ports/tenancy/byok.ts';
import type { Tables } from '../tables.ts';
import { transact } from '../transact.ts';

/** Tables whose rows hold an encrypted secret and the id of its key. */
export type SecretTable = 'byok_credentials' | 'destinations' | 'gateway_providers';

/** Kysely has no types for one of several tables: all have the columns that are used here. */
const asOne = (table: SecretTable) => table as 'byok_credentials';

export async function encryptionKeyIdsIn(database: Kysely<Tables>, table: SecretTable): Promise<string[]> {
  const rows = await database
    .selectFrom(asOne(table))
    .select('encryption_key_id')
    .distinct()
    .where('encryption_key_id', 'is not', null)
    .orderBy('encryption_key_id')
    .execute();
  return rows.flatMap(({ encryption_key_id: id }) => id ?? []);
}

/** Replaces secrets that are still what they were; all or none of them. */
export function reencryptIn(
  database: Kysely<Tables>,
  table: SecretTable,
  replacements: readonly SecretReplacement[],
): Promise<void> {
  return transact(database, async (transaction) => {
    for (const { id, was, becomes } of replacements) {
      await transaction
        .updateTable(asOne(table))
        .set({ encrypted_secret: becomes, encryption_key_id: keyIdOf(becomes) })
        .where('id', '=', id)
        .where('encrypted_secret', '=', was)
        .execute();
    }
  });
}
