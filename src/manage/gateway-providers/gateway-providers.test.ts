import { expect, it } from 'vitest';
import type { StoredProvider } from '../../ports/tenancy/gateway-providers.ts';
import { GatewayProviders, type GatewayProvidersDependencies } from './gateway-providers.ts';

const READ: StoredProvider = {
  id: 'p1',
  slug: 'workshop',
  name: 'Workshop',
  dialect: 'openai-chat',
  baseUrl: 'http://127.0.0.1:1001/v1',
  models: [],
  workspaceIds: null,
  label: null,
  encryptedKey: null,
  version: 0,
  disabled: false,
  createdAtMs: 0,
  updatedAtMs: null,
};

/** A service whose store holds `now` by the time at which it changes what was read. */
function changedMeanwhile(now: Partial<StoredProvider>) {
  const stored: StoredProvider[] = [];
  const store = {
    find: async () => READ,
    listAll: async () => [],
    purgeWipedSecrets: async () => {},
    update: async (_slug: string, decide: (current: StoredProvider) => Partial<StoredProvider>) => {
      const current = { ...READ, ...now };
      const changed = { ...current, ...decide(current) };
      stored.push(changed);
      return changed;
    },
  };
  const providers = new GatewayProviders({
    store,
    vault: { encrypt: (_owner: unknown, key: string) => `sealed ${key}` },
    sources: { clock: { now: () => 1 } },
    changed: () => {},
    warn: () => {},
  } as unknown as GatewayProvidersDependencies);
  return { providers, stored };
}

const MOVED = 'the key or the address of workshop was changed meanwhile; try again';

it('gives a key only to the address that it was given for', async () => {
  const { providers, stored } = changedMeanwhile({ baseUrl: 'http://127.0.0.1:1002/v1' });
  await expect(providers.update('workshop', { key: 'sk-0123456789' })).rejects.toThrow(MOVED);
  expect(stored).toEqual([]);
});

it('takes no other address for a key that was given meanwhile', async () => {
  const { providers, stored } = changedMeanwhile({ encryptedKey: 'sealed', version: 1 });
  const moved = providers.update('workshop', { base_url: 'http://127.0.0.1:1003/v1' });
  await expect(moved).rejects.toThrow(MOVED);
  expect(stored).toEqual([]);
});

it('changes what concerns neither whatever else was changed', async () => {
  const { providers, stored } = changedMeanwhile({ baseUrl: 'http://127.0.0.1:1002/v1', version: 3 });
  await providers.update('workshop', { disabled: true });
  expect(stored).toMatchObject([{ disabled: true, baseUrl: 'http://127.0.0.1:1002/v1', version: 3 }]);
});
