import type { Clock } from '../../kit/time/clock.ts';
import type { ByokStore, StoredByokCredential } from '../../ports/tenancy/byok.ts';
import type { McpToken } from '../../ports/tenancy/byok-credentials.ts';
import type { SecretCipher } from './secret-cipher.ts';

/** Names a token for an MCP server, and the secret that it had. */
export type TokenName = Omit<McpToken, 'reveal'>;

export interface TokenStoreParts {
  readonly store: Pick<ByokStore, 'update' | 'purgeWipedSecrets'>;
  readonly cipher: Pick<SecretCipher, 'encrypt'>;
  readonly clock: Pick<Clock, 'now'>;
}

export async function replaceToken(
  { id, accountId, version }: TokenName,
  secret: string,
  { store, cipher, clock }: TokenStoreParts,
): Promise<void> {
  const decide = (current: StoredByokCredential) =>
    current.version === version
      ? { encryptedSecret: cipher.encrypt(current, secret), version: version + 1 }
      : {};
  await store.update(accountId, id, decide, clock.now());
  await store.purgeWipedSecrets();
}
