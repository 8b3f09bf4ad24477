import { expect, it } from 'vitest';
import type { Account, Tenancy } from '../../ports/tenancy/tenancy.ts';
import { Accounts } from './accounts.ts';

it('lists accounts of one millisecond in the order of their creation, whatever their ids', async () => {
  const stored: Account[] = [];
  const tenancy = {
    listAccounts: async () =>
      [...stored].sort((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1)),
    findAccount: async (name: string) => stored.find((account) => account.name === name),
    createAccount: async (account: Account) => stored.push(account) > 0,
  } as Partial<Tenancy> as Tenancy;
  let ids = 100;
  const sources = { clock: { now: () => 1000 }, uuid: () => String(ids--) };
  const accounts = new Accounts(tenancy, sources as never, { set: async () => {} } as never, () => null);
  await accounts.ensureFirst();
  for (const name of ['one', 'two']) await accounts.create(name);
  expect((await accounts.list()).map(({ name }) => name)).toEqual(['default', 'one', 'two']);
});
