import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EncryptionKeyKeeper } from '../../ports/encryption-keys.ts';
import { readIfThere } from './read-if-there.ts';
import { KEY_BYTES, readOrMakeSecret } from './secret-file.ts';
import { writeWhole } from './whole-files.ts';

/** The variable by which an operator gives the key. */
const VARIABLE = 'SIGNALBOX_ENCRYPTION_KEY';

/** The name of the file with the directory's own key. */
export const OWN_KEY_FILE = 'encryption-key';

/** The encryption key of a data directory that is held by this process: `given` (base64), or the directory's own. */
export class EncryptionKeyFiles implements EncryptionKeyKeeper {
  readonly key: Buffer;
  readonly isGiven: boolean;
  readonly source: string;
  readonly #ownFile: string;
  readonly #rotationFile: string;

  constructor(directory: string, given: string | undefined) {
    this.#ownFile = join(directory, OWN_KEY_FILE);
    this.#rotationFile = join(directory, 'encryption-rotation');
    this.isGiven = given !== undefined;
    this.source = given === undefined ? this.#ownFile : VARIABLE;
    this.key =
      given === undefined
        ? readOrMakeSecret(this.#ownFile, {
            read: (bytes) => Buffer.from(bytes.toString('latin1').trim(), 'base64'),
            make: () => textOf(randomBytes(KEY_BYTES)),
          })
        : Buffer.from(given, 'base64');
  }

  replace(key: Buffer): void {
    writeWhole(this.#ownFile, textOf(key));
  }

  readRotation(): string | undefined {
    return readIfThere(this.#rotationFile)?.toString('latin1');
  }

  writeRotation(text: string): void {
    writeWhole(this.#rotationFile, text);
  }

  removeRotation(): void {
    rmSync(this.#rotationFile, { force: true });
  }
}

function textOf(key: Buffer): string {
  return `${key.toString('base64')}\n`;
}
