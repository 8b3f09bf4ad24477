import { join } from 'node:path';
import { readSecrets } from '../../examination.ts';
import { requireKeys } from '../../manage/vault.ts';
import { type Finding, fine, problem } from './finding.ts';
import { hasProblemAt, type Situation } from './situation.ts';

/** Whether the secrets of the data directory are whole, and the encryption key is that of the stored credentials. */
export async function checkSecrets(situation: Situation): Promise<Finding[]> {
  const { directory, runtime, loading, database } = situation;
  if (directory.kind !== 'there') return [];
  const { dataDir, encryptionKey } = runtime;
  // A key that cannot be read is told of with the configuration.
  if (hasProblemAt(loading, 'SIGNALBOX_ENCRYPTION_KEY')) return [];
  const keeper = readSecrets(dataDir, encryptionKey);
  const needed = (await database.catch(() => undefined))?.facts?.encryptionKeyIds ?? [];
  if (keeper !== undefined) {
    requireKeys(keeper, needed);
    return [fine(`stored credentials are encrypted under the key in ${keeper.source}`)];
  }
  if (needed.length === 0) return [fine('there is no encryption key yet; the first start makes one')];
  return [
    problem(
      `${join(dataDir, 'encryption-key')} is missing; stored credentials are encrypted under the key ${needed.join(', ')}`,
      'put the file back from a backup, or the key into SIGNALBOX_ENCRYPTION_KEY',
    ),
  ];
}
