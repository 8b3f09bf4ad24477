import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EncryptionKeyKeeper } from '../../ports/installation/encryption-keys.ts';
import { GATEWAY_TRACES, HASH_KEY_FILE, readHashKey } from '../directory/data-directory.ts';
import { EncryptionKeyFiles, OWN_KEY_FILE } from '../directory/secret-files.ts';

/** Whether the hash key was lost: the first start creates it. */
export function isHashKeyGone(directory: string): boolean {
  const isThere = (name: string) => existsSync(join(directory, name));
  return !isThere(HASH_KEY_FILE) && GATEWAY_TRACES.some(isThere);
}

/**
 * Reads the secrets of a data directory without creating any. Undefined when no encryption key is given and none was
 * created yet. Throws a DataDirectoryProblem.
 */
export function readSecrets(directory: string, given: string | undefined): EncryptionKeyKeeper | undefined {
  if (existsSync(join(directory, HASH_KEY_FILE))) readHashKey(directory);
  if (given === undefined && !existsSync(join(directory, OWN_KEY_FILE))) return undefined;
  return new EncryptionKeyFiles(directory, given);
}
