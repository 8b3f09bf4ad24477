import { DataDirectoryProblem } from './data-directory-problem.ts';
import { readIfThere } from './read-if-there.ts';
import { writeWhole } from './whole-files.ts';

/** Length of every secret that a data directory keeps. */
export const KEY_BYTES = 32;

/** The secret of a file, which is made if it is not there. */
export function readOrMakeSecret(
  file: string,
  form: { read(bytes: Buffer): Buffer; make(): Buffer | string },
): Buffer {
  const stored = readIfThere(file);
  if (stored === undefined) {
    const made = form.make();
    writeWhole(file, made);
    return form.read(Buffer.from(made));
  }
  const key = form.read(stored);
  if (key.length === KEY_BYTES) return key;
  throw new DataDirectoryProblem(
    `${file} does not hold a key of ${KEY_BYTES} bytes; put the right file back from a backup`,
    false,
  );
}
