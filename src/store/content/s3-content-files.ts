import type { ContentRetention } from '../../ports/content/content.ts';
import type { ListedObject, ObjectStorage } from '../object-storage/object-storage.ts';
import { arrivalOfFile, type ContentPath, isDay, rangeOfDay } from './content-path.ts';
import type { ContentFiles } from './queued-content-store.ts';

/** Keys of content begin with this; then come the day and the file. */
const FOLDER = 'content/';

/** Objects removed in parallel. */
const REMOVALS_AT_ONCE = 16;

/** Content is listed again after this time, milliseconds: other gateways write and remove too. */
const LIST_EVERY_MS = 3_600_000;

const MAX_BYTES = 256 * 1024 * 1024;

export interface S3ContentOptions {
  readonly storage: ObjectStorage;
  /** Milliseconds of a clock that never goes back. */
  monotonic(): number;
}

/** Content as objects, with the names that it has on a disk: `content/2026-09-27/gen-...json.gz`. */
export class S3ContentFiles implements ContentFiles {
  readonly #options: S3ContentOptions;
  /** Bytes of each day: as of the last list, and what this gateway wrote and removed since. */
  readonly #days = new Map<string, number>();
  #listedAtMs: number | undefined;

  constructor(options: S3ContentOptions) {
    this.#options = options;
  }

  get bytes(): number {
    let sum = 0;
    for (const bytes of this.#days.values()) sum += bytes;
    return sum;
  }

  async count(): Promise<void> {
    const { storage, monotonic } = this.#options;
    const days = new Map<string, number>();
    for await (const { key, bytes } of storage.list(FOLDER)) {
      const day = dayOf(key);
      days.set(day, (days.get(day) ?? 0) + bytes);
    }
    this.#days.clear();
    for (const [day, bytes] of days) this.#add(day, bytes);
    this.#listedAtMs = monotonic();
  }

  async write(path: ContentPath, bytes: Uint8Array): Promise<void> {
    await this.#options.storage.put(keyOf(path), bytes);
    this.#add(path.day, bytes.length);
  }

  async read(path: ContentPath): Promise<Buffer | undefined> {
    return (await this.#options.storage.read(keyOf(path), 0, MAX_BYTES))?.bytes;
  }

  async remove(path: ContentPath): Promise<boolean> {
    const { storage } = this.#options;
    const found = await storage.read(keyOf(path), 0, 1);
    if (found === undefined) return false;
    await storage.remove(keyOf(path));
    this.#add(path.day, -found.totalBytes);
    return true;
  }

  async prune({ beforeMs, maxBytes }: ContentRetention): Promise<void> {
    const { monotonic } = this.#options;
    if (monotonic() - (this.#listedAtMs ?? 0) >= LIST_EVERY_MS) await this.count();
    for (const day of [...this.#days.keys()].sort()) {
      if (isDay(day) && rangeOfDay(day).beginMs >= beforeMs && this.bytes <= maxBytes) return;
      await this.#thinOut(day, { beforeMs, maxBytes });
    }
  }

  /** Removes the oldest objects of a day: their keys sort by time. */
  async #thinOut(day: string, { beforeMs, maxBytes }: ContentRetention): Promise<void> {
    let doomed: ListedObject[] = [];
    let left = this.bytes;
    for await (const object of this.#options.storage.list(`${FOLDER}${day}/`)) {
      const arrivedAtMs = arrivalOfFile(object.key.slice(object.key.lastIndexOf('/') + 1)) ?? 0;
      if (arrivedAtMs >= beforeMs && left <= maxBytes) break;
      doomed.push(object);
      left -= object.bytes;
      if (doomed.length < REMOVALS_AT_ONCE) continue;
      await this.#removeAll(day, doomed);
      doomed = [];
    }
    await this.#removeAll(day, doomed);
  }

  async #removeAll(day: string, objects: readonly ListedObject[]): Promise<void> {
    await Promise.all(objects.map(({ key }) => this.#options.storage.remove(key)));
    for (const { bytes } of objects) this.#add(day, -bytes);
  }

  #add(day: string, bytes: number): void {
    const sum = Math.max(0, (this.#days.get(day) ?? 0) + bytes);
    if (sum === 0) this.#days.delete(day);
    else this.#days.set(day, sum);
  }
}

function keyOf({ day, file }: ContentPath): string {
  return `${FOLDER}${day}/${file}`;
}

function dayOf(key: string): string {
  return key.slice(FOLDER.length, key.lastIndexOf('/'));
}
