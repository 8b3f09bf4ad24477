import { join } from 'node:path';
import { requireKeys } from '../manage/byok/vault.ts';
import { isHashKeyGone, readSecrets } from '../store/examine/read-secrets.ts';
import { type CheckFinding, fine, problem } from './finding.ts';
import { hasProblemAt, type Situation } from './situation.ts';

/** Checks that the hash key exists and that the encryption key fits the stored credentials. */
export async function checkSecrets(situation: Situation): Promise<CheckFinding[]> {
  if (situation.directory.kind !== 'there') return [];
  return [...hashKey(situation.runtime.dataDir), ...(await encryptionKeyOf(situation))];
}

function hashKey(dataDir: string): CheckFinding[] {
  if (!isHashKeyGone(dataDir)) return [];
  return [
    problem(
      `${join(dataDir, 'hash-key')} is missing, although a gateway has run here`,
      'restore the file from a backup before the next start: that would make a new one, under which end ' +
        'users and their pins have other hashes and are not found',
    ),
  ];
}

async function encryptionKeyOf(situation: Situation): Promise<CheckFinding[]> {
  const { runtime, loading, holder, database } = situation;
  const { dataDir, encryptionKey } = runtime;
  const variable = holder.kind === 'process' ? holder.view.encryption_key_variable : undefined;
  // The process has it, and compared it with the stored credentials when it started.
  if (variable != null)
    return [fine(`stored credentials are encrypted under the key in ${variable} of the gateway`)];
  // An invalid key is reported by the configuration check.
  if (hasProblemAt(loading, 'SIGNALBOX_ENCRYPTION_KEY')) return [];
  const keeper = readSecrets(dataDir, variable === null ? undefined : encryptionKey);
  const needed = (await database.catch(() => undefined))?.facts?.encryptionKeyIds ?? [];
  if (keeper !== undefined) {
    requireKeys(keeper, needed);
    return [fine(`stored credentials are encrypted under the key in ${keeper.source}`)];
  }
  if (needed.length === 0) return [fine('no encryption key yet; the first start makes one')];
  return [
    problem(
      `${join(dataDir, 'encryption-key')} is missing; stored credentials are encrypted under the key ` +
        `${needed.join(', ')}`,
      'restore the file from a backup, or set SIGNALBOX_ENCRYPTION_KEY to the key',
    ),
  ];
}
