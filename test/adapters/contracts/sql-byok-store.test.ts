import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { encrypt, encryptionKeyOf } from '../../../src/kit/crypto/encrypt.ts';
import { emptyWriteLog, openSqlite } from '../../../src/store/sql/sqlite/open-sqlite.ts';
import { SqlByokStore } from '../../../src/store/sql/stores/sql-byok-store.ts';
import { SqlTenancy } from '../../../src/store/sql/stores/sql-tenancy.ts';
import { newCredentialOf } from '../../kit/builders/byok.ts';
import { workspaceOf } from '../../kit/builders/tenancy.ts';
import { type ByokUnderTest, byokContract } from './byok.ts';
import { sqliteForTests } from './sqlite-for-tests.ts';
import { temporaryDirectory } from './temporary-directory.ts';

async function open(): Promise<ByokUnderTest & { readonly path: string }> {
  const directory = temporaryDirectory();
  const database = await openSqlite(join(directory.path, 'x.sqlite'), 1);
  return {
    path: directory.path,
    byok: new SqlByokStore(database, emptyWriteLog),
    tenancy: new SqlTenancy(database),
    async close() {
      await database.destroy();
      directory.remove();
    },
  };
}

const emptied = sqliteForTests();

byokContract('SqlByokStore', async () => {
  const database = await emptied();
  return {
    byok: new SqlByokStore(database, emptyWriteLog),
    tenancy: new SqlTenancy(database),
    close: async () => {},
  };
});

it('leaves nothing of a wiped secret in any file', async () => {
  const under = await open();
  const key = encryptionKeyOf(Buffer.alloc(32, 1));
  await under.tenancy.createAccount(
    { id: 'a', name: 'a', createdAtMs: 1 },
    workspaceOf({ id: 'w', accountId: 'a' }),
  );
  const secrets = Array.from({ length: 8 }, (_, index) => encrypt(key, 'x'.repeat(index * 900), `${index}`));
  const filesWith = (text: string) =>
    readdirSync(under.path).filter((file) => readFileSync(join(under.path, file)).includes(text));
  for (const [index, encryptedSecret] of secrets.entries()) {
    await under.byok.insert(newCredentialOf({ id: `${index}`, accountId: 'a', encryptedSecret }));
  }
  // A piece that no page boundary cuts, found before and not after.
  const pieces = secrets.map((secret) => secret.slice(24, 64));
  for (const piece of pieces) expect(filesWith(piece)).not.toEqual([]);
  for (const index of secrets.keys()) await under.byok.delete('a', `${index}`, 2);
  for (const piece of pieces) expect(filesWith(piece)).toEqual([]);
  await under.close();
});
