/**
 * The directory of a journal: the part of a file system that a journal needs, so that tests can inject failures. Names
 * are those of files directly in it. Failures reject with the system's error.
 */
export interface JournalFiles {
  pathOf(name: string): string;
  list(): Promise<readonly string[]>;
  open(name: string, mode: OpenMode): Promise<JournalFile>;
  /** Replaces a file that has the new name. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes created, renamed and removed names durable. */
  sync(): Promise<void>;
}

/** `create` creates the file, or empties it if it exists. */
export type OpenMode = 'read' | 'change' | 'create';

export interface JournalFile {
  size(): Promise<number>;
  /** Resolves with the number of bytes read: fewer than asked for only at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Resolves with the number of bytes written, which may be fewer than given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** `write`, and what was written is durable. Nothing else is by that: earlier writes may be lost. */
  writeDurably(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

type Write = keyof Pick<JournalFile, 'write' | 'writeDurably'>;

/** Writes all bytes, in several writes if necessary. */
export function writeAll(file: JournalFile, bytes: Uint8Array, position: number): Promise<void> {
  return writeAllBy('write', file, bytes, position, () => {});
}

/** `writeAll` in one of two ways; resolves with what `done` returns. */
export function writeAllBy<T>(
  write: Write,
  file: JournalFile,
  bytes: Uint8Array,
  position: number,
  done: () => T,
): Promise<T> {
  return file[write](bytes, position).then((written) => {
    if (written === bytes.length) return done();
    if (written === 0) throw new Error('the file takes no bytes');
    return writeAllBy(write, file, bytes.subarray(written), position + written, done);
  });
}

/** Reads a range; shorter at the end of the file. */
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
