import { statfs } from 'node:fs/promises';
import { GatewayError } from '../../ir/errors.ts';

/** Bytes after which the free space is measured again. */
const REMEASURED_BYTES = 16 * 1024 * 1024;

/** Refuses content that would leave less than a floor of free disk: the journal needs the rest. */
export class DiskFloor {
  readonly #directory: string;
  readonly #floorBytes: () => number;
  /** Free space when it was last measured, and what was written since, in bytes. */
  #free = 0;
  #written = Number.POSITIVE_INFINITY;

  constructor(directory: string, floorBytes: () => number) {
    this.#directory = directory;
    this.#floorBytes = floorBytes;
  }

  /** Counts bytes that are about to be written. Rejects with 503 if they do not fit above the floor. */
  async take(bytes: number): Promise<void> {
    const floor = this.#floorBytes();
    if (floor === 0) return;
    this.#written += bytes;
    if (this.#written < REMEASURED_BYTES && this.#free - this.#written >= floor) return;
    const { bavail, bsize } = await statfs(this.#directory);
    this.#free = bavail * bsize;
    this.#written = bytes;
    if (this.#free - bytes >= floor) return;
    throw new GatewayError(
      'overloaded',
      'Service temporarily unavailable: files cannot be stored at the moment, because the disk of the gateway has too ' +
        'little free space (limits.files.min_free_disk_bytes)',
      { retryAfterSeconds: 60 },
    );
  }
}
