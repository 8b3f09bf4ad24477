import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type {
  FileOwner,
  FileQuotas,
  FileStore,
  IncomingBytes,
  StoredFile,
} from '../../ports/content/files.ts';
import { ACCEPTED_TYPES, ContentTypeDetector } from './content-type-detector.ts';
import { type OpenUpload, quotaPassed } from './open-uploads.ts';

export const MAX_FILE_BYTES = 100 * 1024 * 1024;

const MAX_NAME_CHARACTERS = 255;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL_CHARACTER = /[\0-\x1f\x7f]/;

export interface IntakeDependencies {
  readonly incoming: IncomingBytes;
  readonly store: Pick<FileStore, 'insert'>;
  readonly clock: Clock;
  /** Ended when the file is kept or discarded. */
  readonly upload: OpenUpload;
  readonly quotas: () => FileQuotas;
}

/** One upload: content is written piece by piece and is invisible until `keep`. */
export class FileIntake {
  readonly #owner: Pick<StoredFile, 'id' | keyof FileOwner>;
  readonly #dependencies: IntakeDependencies;
  readonly #type = new ContentTypeDetector();
  #sizeBytes = 0;

  constructor(owner: Pick<StoredFile, 'id' | keyof FileOwner>, dependencies: IntakeDependencies) {
    this.#owner = owner;
    this.#dependencies = dependencies;
  }

  /** Writes a piece; resolves when the next may follow. Throws 413 above MAX_FILE_BYTES and above a quota. */
  async write(piece: Uint8Array): Promise<void> {
    this.#sizeBytes += piece.length;
    if (this.#sizeBytes > MAX_FILE_BYTES) throw fileTooLarge();
    this.#dependencies.upload.grow(piece.length);
    this.#type.push(piece);
    await this.#dependencies.incoming.write(piece);
  }

  /** Stores the file. Throws 400 if its type is not accepted, 413 above a quota; then call `discard`. */
  async keep(
    filename: string,
    { isDownloadable }: Pick<StoredFile, 'isDownloadable'> = { isDownloadable: false },
  ): Promise<StoredFile> {
    requireName(filename);
    if (this.#sizeBytes === 0) throw invalidRequest([{ path: 'file', message: 'is empty' }]);
    const mimeType = this.#type.end();
    if (mimeType === undefined) {
      throw invalidRequest([{ path: 'file', message: `is of no accepted type: ${ACCEPTED_TYPES}` }]);
    }
    const { incoming, store, clock, upload, quotas } = this.#dependencies;
    await incoming.keep();
    const file: StoredFile = {
      ...this.#owner,
      filename,
      mimeType,
      sizeBytes: this.#sizeBytes,
      isDownloadable,
      createdAtMs: clock.now(),
    };
    const passed = await store.insert(file, quotas());
    if (passed !== undefined) throw quotaPassed(passed);
    upload.end();
    return file;
  }

  async discard(): Promise<void> {
    try {
      await this.#dependencies.incoming.discard();
    } finally {
      this.#dependencies.upload.end();
    }
  }
}

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
      : filename.length > MAX_NAME_CHARACTERS
        ? `its filename has more than ${MAX_NAME_CHARACTERS} characters`
        : CONTROL_CHARACTER.test(filename)
          ? 'its filename has characters that no filename may have'
          : undefined;
  if (problem !== undefined) throw invalidRequest([{ path: 'file', message: problem }]);
}
