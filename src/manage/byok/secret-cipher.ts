import { decrypt, type EncryptionKey, encrypt } from '../../kit/crypto/encrypt.ts';
import type { EncryptedSecret } from '../../ports/tenancy/byok.ts';

/** The associated data of an encrypted secret: it cannot be decrypted in the row of another credential. */
export type SecretOwner = Pick<EncryptedSecret, 'id' | 'accountId' | 'provider'>;

/** Keys of stored secrets: first the one that encrypts, then those that still decrypt. */
export type SecretKeys = readonly [EncryptionKey, ...EncryptionKey[]];

/** Encrypts and decrypts the secrets of credentials with keys that may be replaced. */
export class SecretCipher {
  #keys: SecretKeys;

  constructor(keys: SecretKeys) {
    this.#keys = keys;
  }

  get keys(): SecretKeys {
    return this.#keys;
  }

  use(keys: SecretKeys): void {
    this.#keys = keys;
  }

  encrypt(owner: SecretOwner, secret: string): string {
    return encrypt(this.#keys[0], secret, placeOf(owner));
  }

  /** Throws a DecryptionProblem when the stored text was tampered with. */
  decrypt(stored: EncryptedSecret): string {
    return decrypt(this.#keys, stored.encryptedSecret, placeOf(stored));
  }
}

function placeOf({ id, accountId, provider }: SecretOwner): string {
  return `byok credential\n${id}\n${accountId}\n${provider}`;
}
