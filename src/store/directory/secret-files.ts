import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EncryptionKeyKeeper } from '../../ports/installation/encryption-keys.ts';
import { readIfExists, replaceFile } from './atomic-files.ts';
import { DataDirectoryProblem } from './data-directory-problem.ts';

const VARIABLE = 'SIGNALBOX_ENCRYPTION_KEY';

export const OWN_KEY_FILE = 'encryption-key';

/** The encryption key of a locked data directory: `given` (base64), or the directory's own. */
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
    replaceFile(this.#ownFile, textOf(key));
  }

  readRotation(): string | undefined {
    return readIfExists(this.#rotationFile)?.toString('latin1');
  }

  writeRotation(text: string): void {
    replaceFile(this.#rotationFile, text);
  }

  removeRotation(): void {
    rmSync(this.#rotationFile, { force: true });
  }
}

function textOf(key: Buffer): string {
  return `${key.toString('base64')}\n`;
}

/** Length of every secret that a data directory keeps. */
export const KEY_BYTES = 32;

export function readOrMakeSecret(
  file: string,
  form: { read(bytes: Buffer): Buffer; make(): Buffer | string },
): Buffer {
  const stored = readIfExists(file);
  if (stored === undefined) {
    const made = form.make();
    replaceFile(file, made);
    return form.read(Buffer.from(made));
  }
  const key = form.read(stored);
  if (key.length === KEY_BYTES) return key;
  throw new DataDirectoryProblem(
    `${file} does not hold a key of ${KEY_BYTES} bytes; put the right file back from a backup`,
    false,
  );
}
