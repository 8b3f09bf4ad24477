import { GatewayError } from '../../ir/errors.ts';
import {
  DecryptionProblem,
  decrypt,
  type EncryptionKey,
  encrypt,
  encryptionKeyOf,
  KEY_BYTES,
  keyIdOf,
  makeEncryptionKey,
} from '../../kit/crypto/encrypt.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import { isOfDestination } from '../../ports/following/destinations.ts';
import type { EncryptionKeyKeeper } from '../../ports/installation/encryption-keys.ts';
import type { EncryptedSecret, SecretStore } from '../../ports/tenancy/byok.ts';
import { SecretCipher, type SecretKeys, type SecretOwner } from './secret-cipher.ts';

export interface Rotation {
  readonly keyId: string;
  readonly previousKeyId: string;
  /** Credentials, and secrets of destinations, that were re-encrypted. */
  readonly credentials: number;
  /** Where the next start reads the key: a variable or a file. */
  readonly source: string;
  /** The operator has to put the new key there. */
  readonly mustBeGiven: boolean;
}

/** Secrets re-encrypted per transaction; other users of the database run in between. */
const SECRETS_PER_BATCH = 100;

/*
 * A rotation can be interrupted with some secrets under the new key and some under the old one. So before the first
 * is changed, a note is written that holds each key encrypted under the other: a start with either key reads both
 * from it and resumes. A key in the data directory is replaced at the end and the note removed. A key that the
 * operator supplies cannot be replaced by us: the note stays until a start with the new one.
 */

/** Encrypts and decrypts stored secrets, and rotates the key while both go on. */
export class Vault {
  readonly #stores: readonly SecretStore[];
  readonly #keeper: EncryptionKeyKeeper;
  readonly #cipher: SecretCipher;
  #onKeys: ((keys: SecretKeys) => void) | undefined;
  #isRotating = false;
  #warnings: string[] = [];

  private constructor(stores: readonly SecretStore[], keeper: EncryptionKeyKeeper, keys: SecretKeys) {
    this.#stores = stores;
    this.#keeper = keeper;
    this.#cipher = new SecretCipher(keys);
  }

  /** Opens the vault and resumes an interrupted rotation. Rejects if the stored secrets need another key. */
  static async open(stores: readonly SecretStore[], keeper: EncryptionKeyKeeper): Promise<Vault> {
    const given = encryptionKeyOf(keeper.key);
    const note = readNote(keeper.readRotation(), given);
    const vault = new Vault(stores, keeper, note ?? [given]);
    for (const store of stores) {
      requireKeys(keeper, await store.encryptionKeyIds());
      // A killed process may have left deleted secrets in free pages of the database file.
      await store.purgeWipedSecrets();
    }
    if (note !== undefined) await vault.#resume();
    return vault;
  }

  /** Advice for the operator, in whole sentences. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** The environment variable that the key comes from; null = it is in the data directory. */
  get keyVariable(): string | null {
    return this.#keeper.isGiven ? this.#keeper.source : null;
  }

  get keys(): SecretKeys {
    return this.#cipher.keys;
  }

  /** Calls the listener with new keys, before the first secret is encrypted under them. */
  watchKeys(listener: (keys: SecretKeys) => void): void {
    this.#onKeys = listener;
  }

  encrypt(owner: SecretOwner, secret: string): string {
    return this.#cipher.encrypt(owner, secret);
  }

  decrypt(stored: EncryptedSecret): string {
    return this.#cipher.decrypt(stored);
  }

  /**
   * Re-encrypts every secret under a new key: `given` (base64), or a generated one if the key is in the data directory.
   * After a failure the next call resumes.
   */
  async rotate(given?: string): Promise<Rotation> {
    if (this.#isRotating) throw new GatewayError('conflict', 'the encryption key is being changed already');
    this.#isRotating = true;
    try {
      const [previous] = this.keys;
      const unfinished = readNote(this.#keeper.readRotation(), previous);
      if (unfinished === undefined) this.#begin(this.#newKey(given));
      else this.#requireSame(unfinished[0], given);
      const credentials = await this.#reencrypt();
      const { source, isGiven, key } = this.#keeper;
      return {
        keyId: this.keys[0].id,
        previousKeyId: unfinished === undefined ? previous.id : (unfinished[1]?.id ?? ''),
        credentials,
        source,
        mustBeGiven: isGiven && !key.equals(this.keys[0].bytes),
      };
    } finally {
      this.#isRotating = false;
    }
  }

  #newKey(given: string | undefined): EncryptionKey {
    if (given === undefined) {
      if (!this.#keeper.isGiven) return makeEncryptionKey();
      throw new GatewayError(
        'invalid-request',
        `the key comes from ${this.#keeper.source}, so the new one has to be given too: write one to a ` +
          'file (openssl rand -base64 32) and name it with --new-key-file',
      );
    }
    const bytes = Buffer.from(given, 'base64');
    if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== given) {
      throw new GatewayError('invalid-request', `the new key must be ${KEY_BYTES} bytes in base64`);
    }
    const key = encryptionKeyOf(bytes);
    if (key.id !== this.keys[0].id) return key;
    throw new GatewayError('invalid-request', 'the new key is the one that is in use');
  }

  #begin(next: EncryptionKey): void {
    const [previous] = this.keys;
    this.#keeper.writeRotation(writeNote(next, previous));
    this.#cipher.use([next, ...this.keys]);
    this.#onKeys?.(this.keys);
  }

  /** An unfinished rotation can only be resumed with its own new key. Throws 409 for any other. */
  #requireSame(next: EncryptionKey, given: string | undefined): void {
    if (given === undefined ? !this.#keeper.isGiven : Buffer.from(given, 'base64').equals(next.bytes)) return;
    throw new GatewayError(
      'conflict',
      this.#keeper.isGiven
        ? `the last change of the key is not over: put the key ${next.id} into ${this.#keeper.source} and ` +
            'start the gateway with it first'
        : `the last change of the key was cut short: run it without a new key to finish it`,
    );
  }

  /**
   * Resumes a rotation at the start. A failure is only a warning: both keys are known, so all secrets stay readable.
   */
  async #resume(): Promise<void> {
    try {
      await this.#reencrypt();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#warnings.push(`the change of the encryption key is not finished: ${error.message}`);
    }
    const { isGiven, key, source } = this.#keeper;
    if (isGiven && !key.equals(this.keys[0].bytes)) {
      this.#warnings.push(
        `${source} holds the key from before the last rotation; replace it by the new one ` +
          `(${this.keys[0].id}), the old one works until then`,
      );
    }
  }

  /** Re-encrypts every secret under the first key, then removes the old key and the note. */
  async #reencrypt(): Promise<number> {
    const [current] = this.keys;
    let count = 0;
    for (const store of this.#stores) count += await this.#reencryptIn(store);
    if (!this.#keeper.isGiven) this.#keeper.replace(current.bytes);
    if (!this.#keeper.isGiven || this.#keeper.key.equals(current.bytes)) this.#keeper.removeRotation();
    return count;
  }

  async #reencryptIn(store: SecretStore): Promise<number> {
    const [current] = this.keys;
    let count = 0;
    for (;;) {
      const batch = await store.listEncryptedOtherwise(current.id, SECRETS_PER_BATCH);
      if (batch.length === 0) break;
      await store.reencrypt(batch.map((stored) => this.#replacementOf(stored)));
      count += batch.length;
      await nextTurn();
    }
    await store.purgeWipedSecrets();
    return count;
  }

  #replacementOf(stored: EncryptedSecret) {
    try {
      const becomes = this.encrypt(stored, this.decrypt(stored));
      return { id: stored.id, was: stored.encryptedSecret, becomes };
    } catch (error) {
      if (!(error instanceof DecryptionProblem)) throw error;
      throw new GatewayError(
        'conflict',
        `the ${isOfDestination(stored) ? 'destination' : 'credential'} ${stored.id} cannot be decrypted: ` +
          `${error.message}; delete it and run the rotation again`,
      );
    }
  }
}

/** Throws 409 if a needed key is not known. `needed`: ids of the keys that stored secrets are encrypted under. */
export function requireKeys(
  keeper: Pick<EncryptionKeyKeeper, 'key' | 'source' | 'readRotation'>,
  needed: readonly string[],
): void {
  const given = encryptionKeyOf(keeper.key);
  const known = new Set((readNote(keeper.readRotation(), given) ?? [given]).map(({ id }) => id));
  const missing = needed.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  throw new GatewayError(
    'conflict',
    `stored credentials are encrypted under the key ${missing.join(', ')}, and the one in ` +
      `${keeper.source} is ${given.id}; put the right key there, from a backup if need be`,
  );
}

const NEW_KEY = 'new key of a rotation';
const OLD_KEY = 'old key of a rotation';

function writeNote(next: EncryptionKey, previous: EncryptionKey): string {
  const lines = [
    encrypt(previous, next.bytes.toString('base64'), NEW_KEY),
    encrypt(next, previous.bytes.toString('base64'), OLD_KEY),
  ];
  return `${lines.join('\n')}\n`;
}

/** Decrypts a note with either of its keys and returns new and old; undefined if `key` is neither. */
function readNote(
  note: string | undefined,
  key: EncryptionKey,
): readonly [EncryptionKey, EncryptionKey] | undefined {
  const [underOld = '', underNew = ''] = note?.split('\n') ?? [];
  const open = (encrypted: string, place: string) =>
    encryptionKeyOf(Buffer.from(decrypt([key], encrypted, place), 'base64'));
  if (keyIdOf(underOld) === key.id) return [open(underOld, NEW_KEY), key];
  if (keyIdOf(underNew) === key.id) return [key, open(underNew, OLD_KEY)];
  return undefined;
}
