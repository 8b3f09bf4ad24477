import type { Tenancy } from '../../ports/tenancy/tenancy.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Sources } from '../sources.ts';
import type { Keys } from './keys.ts';

/** Secrets of keys that the operator wants to exist. */
export interface GivenKeys {
  readonly managementKey?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The secrets of the keys that the first start creates. Printed once; only hashes are stored. */
export interface FirstKeys {
  readonly managementKey: string;
  readonly apiKey: string;
}

/**
 * Creates the first account and the given keys. If this is the first start and no key was given, creates one management
 * key and one API key and returns their secrets.
 */
export async function bootstrap(
  dependencies: {
    readonly tenancy: Tenancy;
    readonly accounts: Accounts;
    readonly keys: Pick<Keys, 'ensure' | 'issue'>;
    readonly sources: Sources;
  },
  given: GivenKeys,
): Promise<FirstKeys | undefined> {
  const { tenancy, accounts, keys, sources } = dependencies;
  await accounts.ensureFirst();
  if (given.managementKey !== undefined) {
    await keys.ensure(given.managementKey, { name: 'SIGNALBOX_MANAGEMENT_KEY', isManagement: true });
  }
  if (given.apiKey !== undefined) await keys.ensure(given.apiKey, { name: 'SIGNALBOX_API_KEY' });
  const isFirst = await tenancy.recordFirstStart(sources.clock.now());
  if (!isFirst || given.managementKey !== undefined || given.apiKey !== undefined) return undefined;
  const management = await keys.issue({ name: 'First management key', isManagement: true });
  const plain = await keys.issue({ name: 'First API key' });
  return { managementKey: management.secret, apiKey: plain.secret };
}
