import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

/** A key that encrypts data keys. Its id identifies it without revealing its bytes. */
export interface EncryptionKey {
  readonly id: string;
  /** `KEY_BYTES` long. */
  readonly bytes: Buffer;
}

/** Text that cannot be decrypted: it was changed, belongs to another place, or its key is missing. */
export class DecryptionProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecryptionProblem';
  }
}

export const KEY_BYTES = 32;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

export function encryptionKeyOf(bytes: Buffer): EncryptionKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`an encryption key has ${KEY_BYTES} bytes`);
  return { id: createHmac('sha256', bytes).update('encryption key id').digest('hex').slice(0, 16), bytes };
}

export function makeEncryptionKey(): EncryptionKey {
  return encryptionKeyOf(randomBytes(KEY_BYTES));
}

/**
 * Encrypts text for one place, as `v1.KEY_ID.DATA_KEY.CONTENT`: the content under a data key of its own, the data key
 * under `key`, both bound to the place. Put anywhere else it cannot be decrypted.
 */
export function encrypt(key: EncryptionKey, text: string, place: string): string {
  const dataKey = randomBytes(KEY_BYTES);
  const head = `${VERSION}.${key.id}`;
  const wrapped = encipher(key.bytes, dataKey, `${head}\n${place}\ndata key`);
  const content = encipher(dataKey, Buffer.from(text, 'utf8'), `${head}\n${place}\ncontent`);
  return `${head}.${wrapped.toString('base64url')}.${content.toString('base64url')}`;
}

/** Decrypts text for this place with the one of `keys` that it names. Throws a DecryptionProblem. */
export function decrypt(keys: readonly EncryptionKey[], encrypted: string, place: string): string {
  const [version, keyId, wrapped = '', content = ''] = encrypted.split('.');
  if (version !== VERSION) throw new DecryptionProblem('the encrypted text has an unknown form');
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new DecryptionProblem('the encryption key of the text is missing');
  const head = `${version}.${keyId}`;
  const dataKey = decipher(key.bytes, wrapped, `${head}\n${place}\ndata key`);
  return decipher(dataKey, content, `${head}\n${place}\ncontent`).toString('utf8');
}

export function keyIdOf(encrypted: string): string {
  return encrypted.split('.')[1] ?? '';
}

function encipher(key: Buffer, plain: Buffer, bound: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(bound, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decipher(key: Buffer, text: string, bound: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  const end = bytes.length - TAG_BYTES;
  if (end < NONCE_BYTES) throw changed();
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(bound, 'utf8')).setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]);
  } catch {
    throw changed();
  }
}

function changed(): DecryptionProblem {
  return new DecryptionProblem('the encrypted text was changed or belongs to another place');
}
