import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { FileStore, IncomingBytes, StoredFile } from '../../ports/files.ts';
import { ACCEPTED_TYPES, ContentType } from './content-type.ts';

/** What a file may have at most: 100 MiB. */
export const MAX_FILE_BYTES = 100 * 1024 * 1024;

const LONGEST_NAME = 255;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL_CHARACTER = /[\0-\x1f\x7f]/;

/** What an upload is kept with. */
export interface IntakeParts {
  readonly incoming: IncomingBytes;
  readonly store: Pick<FileStore, 'insert'>;
  readonly clock: Clock;
  /** Told once, when it is kept or discarded. */
  readonly settled: () => void;
}

/** One upload: its content comes in piece by piece, and nobody sees it until it is kept. */
export class FileIntake {
  readonly #owner: Pick<StoredFile, 'id' | 'accountId' | 'workspaceId'>;
  readonly #parts: IntakeParts;
  readonly #type = new ContentType();
  #sizeBytes = 0;

  constructor(owner: Pick<StoredFile, 'id' | 'accountId' | 'workspaceId'>, parts: IntakeParts) {
    this.#owner = owner;
    this.#parts = parts;
  }

  /** Takes a piece; resolves when the next may follow. Throws 413 when it is too much. */
  async write(piece: Uint8Array): Promise<void> {
    this.#sizeBytes += piece.length;
    if (this.#sizeBytes > MAX_FILE_BYTES) throw fileTooLarge();
    this.#type.push(piece);
    await this.#parts.incoming.write(piece);
  }

  /** Keeps what came in. Throws 400 when it is no file that is accepted; then it is to be discarded. */
  async keep(filename: string): Promise<StoredFile> {
    requireName(filename);
    if (this.#sizeBytes === 0) throw invalidRequest([{ path: 'file', message: 'is empty' }]);
    const mimeType = this.#type.end();
    if (mimeType === undefined) {
      throw invalidRequest([{ path: 'file', message: `is of no accepted type: ${ACCEPTED_TYPES}` }]);
    }
    const { incoming, store, clock, settled } = this.#parts;
    await incoming.keep();
    const file: StoredFile = {
      ...this.#owner,
      filename,
      mimeType,
      sizeBytes: this.#sizeBytes,
      isDownloadable: false,
      createdAtMs: clock.now(),
    };
    await store.insert(file);
    settled();
    return file;
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    try {
      await this.#parts.incoming.discard();
    } finally {
      this.#parts.settled();
    }
  }
}

/** The refusal of a file that is too large. */
export function fileTooLarge(): GatewayError {
  return new GatewayError(
    'payload-too-large',
    `file: too large: the limit is ${MAX_FILE_BYTES} bytes (100 MiB)`,
  );
}

function requireName(filename: string): void {
  const problem =
    filename === ''
      ? 'needs a filename'
      : filename.length > LONGEST_NAME
        ? `its filename has more than ${LONGEST_NAME} characters`
        : CONTROL_CHARACTER.test(filename)
          ? 'its filename has characters that no filename may have'
          : undefined;
  if (problem !== undefined) throw invalidRequest([{ path: 'file', message: problem }]);
}
