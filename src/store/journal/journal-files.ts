/**
 * The directory of a journal: all that a journal asks of a file system, so that tests can give it one that fails at will.
 * Names are those of files right in it. Whatever fails rejects with the system's error.
 */
export interface JournalFiles {
  /** How messages name a file. */
  pathOf(name: string): string;
  list(): Promise<readonly string[]>;
  open(name: string, mode: OpenMode): Promise<JournalFile>;
  /** Replaces what has the new name. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes new, renamed and removed names survive the end of the machine. */
  sync(): Promise<void>;
}

/** `create` makes the file, or empties it if it is there. */
export type OpenMode = 'read' | 'change' | 'create';

/** An open file. */
export interface JournalFile {
  size(): Promise<number>;
  /** Resolves with how many bytes were read: fewer than asked for only at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Resolves with how many bytes were written, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Makes the content survive the end of the machine. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Writes all bytes, however many writes that takes. */
export async function writeAll(file: JournalFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(bytes.subarray(done), position + done);
    if (written === 0) throw new Error('the file takes no bytes');
    done += written;
  }
}

/** Reads a range, or what there is of it. */
export async function readRange(file: JournalFile, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const read = await file.read(bytes.subarray(done), position + done);
    if (read === 0) break;
    done += read;
  }
  return bytes.subarray(0, done);
}
