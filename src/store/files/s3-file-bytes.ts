import { GatewayError } from '../../ir/errors.ts';
import type { FileBytes, IncomingBytes } from '../../ports/content/files.ts';
import {
  type ObjectParts,
  type ObjectStorage,
  ObjectStorageUnavailable,
} from '../object-storage/object-storage.ts';
import { FILE_ID, requireFileId } from './file-id.ts';

/** Keys of files begin with this. */
const FOLDER = 'files/';

/** Bytes of a part of an upload, the least that S3 takes, and of a read: the memory that each of them holds. */
const PART_BYTES = 5 * 1024 * 1024;
const READ_BYTES = 2 * 1024 * 1024;

/**
 * Content that was stored less than this time ago is not listed, milliseconds: another gateway stores the row of a
 * file after its content, and a sweep would take that content for one without a row.
 */
const SETTLING_MS = 3_600_000;

export interface S3FileBytesOptions {
  readonly storage: ObjectStorage;
  now(): number;
  readonly settlingMs?: number;
}

/** Contents of files as objects, which all gateways with the same bucket see. */
export class S3FileBytes implements FileBytes {
  readonly #options: S3FileBytesOptions;

  constructor(options: S3FileBytesOptions) {
    this.#options = options;
  }

  async receive(id: string): Promise<IncomingBytes> {
    return new IncomingObject(this.#options.storage, FOLDER + requireFileId(id));
  }

  async read(id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { storage } = this.#options;
    const key = FOLDER + requireFileId(id);
    const first = await storage.read(key, 0, READ_BYTES).catch(refuse);
    return first && restOf(storage, key, first.bytes, first);
  }

  async remove(id: string): Promise<void> {
    await this.#options.storage.remove(FOLDER + requireFileId(id)).catch(refuse);
  }

  async ids(): Promise<string[]> {
    const { storage, now, settlingMs = SETTLING_MS } = this.#options;
    const ids: string[] = [];
    try {
      for await (const { key, storedAtMs } of storage.list(FOLDER)) {
        const id = key.slice(FOLDER.length);
        if (FILE_ID.test(id) && storedAtMs <= now() - settlingMs) ids.push(id);
      }
    } catch (error) {
      refuse(error);
    }
    return ids;
  }
}

async function* restOf(
  storage: ObjectStorage,
  key: string,
  first: Buffer,
  { totalBytes, version }: { readonly totalBytes: number; readonly version: string },
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let from = first.length; from < totalBytes; ) {
    const range = await storage.read(key, from, READ_BYTES, version).catch(refuse);
    if (range === undefined || range.bytes.length === 0) {
      throw new Error('the content of the file was removed while it was read');
    }
    yield range.bytes;
    from += range.bytes.length;
  }
}

/** Gathers parts. Content of less than one part is a single object; more is written in parts while it comes. */
class IncomingObject implements IncomingBytes {
  readonly #storage: ObjectStorage;
  readonly #key: string;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #parts: ObjectParts | undefined;
  #isKept = false;
  #hasFailed = false;

  constructor(storage: ObjectStorage, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  async write(piece: Uint8Array): Promise<void> {
    for (let from = 0; from < piece.length; ) {
      const taken = piece.subarray(from, from + PART_BYTES - this.#gatheredBytes);
      // The caller may reuse its buffer.
      this.#gathered.push(Uint8Array.from(taken));
      this.#gatheredBytes += taken.length;
      from += taken.length;
      if (this.#gatheredBytes === PART_BYTES) await this.#addPart();
    }
  }

  async keep(): Promise<void> {
    try {
      if (this.#parts === undefined) {
        await this.#storage.put(this.#key, Buffer.concat(this.#gathered));
      } else {
        if (this.#gatheredBytes > 0) await this.#addPart();
        await this.#parts.complete();
      }
      this.#isKept = true;
    } catch (error) {
      this.#hasFailed = true;
      refuse(error);
    }
  }

  async discard(): Promise<void> {
    this.#gathered = [];
    const removed = this.#removed();
    // After a failure the caller has waited for the storage already: the removal goes on by itself.
    if (!this.#hasFailed) await removed;
  }

  /** What the storage keeps although it failed is swept later, or ends with a lifecycle rule of the bucket. */
  async #removed(): Promise<void> {
    if (!this.#isKept) await this.#parts?.abort().catch(() => {});
    await this.#storage.remove(this.#key).catch(() => {});
  }

  async #addPart(): Promise<void> {
    const part = Buffer.concat(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    try {
      this.#parts ??= await this.#storage.beginParts(this.#key);
      await this.#parts.add(part);
    } catch (error) {
      this.#hasFailed = true;
      refuse(error);
    }
  }
}

/** A 503 in place of a failure of the storage. */
function refuse(error: unknown): never {
  if (!(error instanceof ObjectStorageUnavailable)) throw error;
  const failure = error.isRefusal ? 'refuses access' : 'does not answer';
  throw new GatewayError('overloaded', `Service temporarily unavailable: the storage of files ${failure}`, {
    retryAfterSeconds: 10,
    cause: error,
  });
}
