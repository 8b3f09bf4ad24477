import { joinConfig, type Secrets } from '../../broadcast/destination-config.ts';
import type { DestinationTarget } from '../../broadcast/destination-target.ts';
import { targetOf } from '../../broadcast/destination-types.ts';
import { type Destination, destinationProvider } from '../../ports/following/destinations.ts';
import type { Vault } from '../byok/vault.ts';

type Owner = Pick<Destination, 'id' | 'accountId' | 'type'>;

/** Secrets as they are stored; null without any. */
export function sealedSecrets(vault: Pick<Vault, 'encrypt'>, owner: Owner, secrets: Secrets): string | null {
  if (Object.keys(secrets).length === 0) return null;
  return vault.encrypt(secretOwner(owner), JSON.stringify(secrets));
}

/** The secrets of a destination. Throws a DecryptionProblem when the stored text was tampered with. */
export function openSecrets(
  vault: Pick<Vault, 'decrypt'>,
  destination: Owner & Pick<Destination, 'encryptedSecrets'>,
): Secrets {
  const { encryptedSecrets } = destination;
  if (encryptedSecrets === null) return {};
  const stored = { ...secretOwner(destination), encryptedSecret: encryptedSecrets };
  return JSON.parse(vault.decrypt(stored)) as Secrets;
}

/** Where a stored destination leads, with its secrets. Throws a DecryptionProblem. */
export function storedTarget(vault: Pick<Vault, 'decrypt'>, destination: Destination): DestinationTarget {
  return targetOf(destination.type, joinConfig(destination.config, openSecrets(vault, destination)));
}

function secretOwner({ id, accountId, type }: Owner) {
  return { id, accountId, provider: destinationProvider(type) };
}
