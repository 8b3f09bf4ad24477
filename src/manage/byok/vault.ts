import { setImmediate as nextTurn } from 'node:timers/promises';
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
import type { ByokStore, EncryptedSecret } from '../../ports/byok.ts';
import type { EncryptionKeyKeeper } from '../../ports/encryption-keys.ts';

/** What a secret is bound to: encrypted for one credential, it is worth nothing in the row of another. */
export type SecretOwner = Pick<EncryptedSecret, 'id' | 'accountId' | 'provider'>;

/** How a change of the encryption key ended. */
export interface Rotation {
  readonly keyId: string;
  readonly previousKeyId: string;
  /** Credentials that were encrypted anew. */
  readonly credentials: number;
  /** Where the next start reads its key: a variable or a file. */
  readonly source: string;
  /** The operator has to put the new key there. */
  readonly mustBeGiven: boolean;
}

/** Secrets that are encrypted anew at a time; whoever else wants the database has a turn in between. */
const BATCH = 100;

/*
 * A rotation may end at any point, with some secrets under the new key and some under the old one. So before the first
 * is touched, a note is written that holds each key encrypted under the other: whoever starts with one of them has
 * both, and goes on. A key that is kept in the data directory is replaced at the end, and the note removed. A key that
 * the operator gives is not ours to replace: the note stays until a start with the new one.
 */

/** Encrypts the secrets of credentials, decrypts them, and changes the key while all of that goes on. */
export class Vault {
  readonly #store: ByokStore;
  readonly #keeper: EncryptionKeyKeeper;
  /** The key that encrypts; then those that can still decrypt. */
  #keys: readonly [EncryptionKey, ...EncryptionKey[]];
  #isRotating = false;
  #warnings: string[] = [];

  private constructor(
    store: ByokStore,
    keeper: EncryptionKeyKeeper,
    keys: readonly [EncryptionKey, ...EncryptionKey[]],
  ) {
    this.#store = store;
    this.#keeper = keeper;
    this.#keys = keys;
  }

  /** Opens the vault and ends a rotation that was cut short. Rejects when the key is not that of the stored secrets. */
  static async open(store: ByokStore, keeper: EncryptionKeyKeeper): Promise<Vault> {
    const given = encryptionKeyOf(keeper.key);
    const note = readNote(keeper.readRotation(), given);
    const vault = new Vault(store, keeper, note ?? [given]);
    requireKeys(keeper, await store.encryptionKeyIds());
    // What a process that was killed had wiped may still be in a file.
    await store.forgetWiped();
    if (note !== undefined) await vault.#resume();
    return vault;
  }

  /** What the operator should do although everything works; whole sentences. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  encrypt(owner: SecretOwner, secret: string): string {
    return encrypt(this.#keys[0], secret, placeOf(owner));
  }

  /** Throws a DecryptionProblem when the stored text was tampered with. */
  decrypt(stored: EncryptedSecret): string {
    return decrypt(this.#keys, stored.encryptedSecret, placeOf(stored));
  }

  /**
   * Encrypts every secret under a new key: `given` (base64), or one that is made here where the key is kept here too.
   * After a failure the next call goes on where this one ended.
   */
  async rotate(given?: string): Promise<Rotation> {
    if (this.#isRotating) throw new GatewayError('conflict', 'the encryption key is being changed already');
    this.#isRotating = true;
    try {
      const [previous] = this.#keys;
      const unfinished = readNote(this.#keeper.readRotation(), previous);
      if (unfinished === undefined) this.#begin(this.#newKey(given));
      else this.#requireSame(unfinished[0], given);
      const credentials = await this.#reencrypt();
      const { source, isGiven, key } = this.#keeper;
      return {
        keyId: this.#keys[0].id,
        previousKeyId: unfinished === undefined ? previous.id : (unfinished[1]?.id ?? ''),
        credentials,
        source,
        mustBeGiven: isGiven && !key.equals(this.#keys[0].bytes),
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
        `the key comes from ${this.#keeper.source}, so the new one has to be given too: write one to a file (openssl rand -base64 32) and name it with --new-key-file`,
      );
    }
    const bytes = Buffer.from(given, 'base64');
    if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== given) {
      throw new GatewayError('invalid-request', `the new key must be ${KEY_BYTES} bytes in base64`);
    }
    const key = encryptionKeyOf(bytes);
    if (key.id !== this.#keys[0].id) return key;
    throw new GatewayError('invalid-request', 'the new key is the one that is in use');
  }

  #begin(next: EncryptionKey): void {
    const [previous] = this.#keys;
    this.#keeper.writeRotation(writeNote(next, previous));
    this.#keys = [next, ...this.#keys];
  }

  /** A rotation that has not come to its end goes on to the key that it began with. */
  #requireSame(next: EncryptionKey, given: string | undefined): void {
    if (given === undefined ? !this.#keeper.isGiven : Buffer.from(given, 'base64').equals(next.bytes)) return;
    throw new GatewayError(
      'conflict',
      this.#keeper.isGiven
        ? `the last change of the key is not over: put the key ${next.id} into ${this.#keeper.source} and start the gateway with it first`
        : `the last change of the key was cut short: run it without a new key to finish it`,
    );
  }

  /** Ends a rotation at the start. It can wait: both keys are at hand. */
  async #resume(): Promise<void> {
    try {
      await this.#reencrypt();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#warnings.push(`the change of the encryption key is not finished: ${error.message}`);
    }
    const { isGiven, key, source } = this.#keeper;
    if (isGiven && !key.equals(this.#keys[0].bytes)) {
      this.#warnings.push(
        `${source} holds the key from before the last rotation; replace it by the new one (${this.#keys[0].id}), the old one works until then`,
      );
    }
  }

  /** Brings every secret under the first key, then forgets what the rotation needed. */
  async #reencrypt(): Promise<number> {
    const [current] = this.#keys;
    let count = 0;
    for (;;) {
      const batch = await this.#store.listEncryptedOtherwise(current.id, BATCH);
      if (batch.length === 0) break;
      await this.#store.reencrypt(batch.map((stored) => this.#replacementOf(stored)));
      count += batch.length;
      await nextTurn();
    }
    await this.#store.forgetWiped();
    if (!this.#keeper.isGiven) this.#keeper.replace(current.bytes);
    if (!this.#keeper.isGiven || this.#keeper.key.equals(current.bytes)) this.#keeper.removeRotation();
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
        `the credential ${stored.id} cannot be decrypted: ${error.message}; delete it and run the rotation again`,
      );
    }
  }
}

/** Throws where stored secrets need a key that is not at hand. `needed`: ids of the keys that they are encrypted under. */
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
    `stored credentials are encrypted under the key ${missing.join(', ')}, and the one in ${keeper.source} is ${given.id}; put the right key there, from a backup if need be`,
  );
}

function placeOf({ id, accountId, provider }: SecretOwner): string {
  return `byok credential\n${id}\n${accountId}\n${provider}`;
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

/** The new key and the old one, by whichever of the two is at hand; undefined for a note that neither wrote. */
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
