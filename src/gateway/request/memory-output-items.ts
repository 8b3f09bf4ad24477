import { RecentMap } from '../../kit/collections/recent-map.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { stringifySliced } from '../../kit/json/stringify-sliced.ts';
import { Pace, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { FoundItems, OutputItems } from '../../ports/shared/output-items.ts';

/** Milliseconds for which an item can be referred to. */
const LIFETIME_MS = 3_600_000;

/** Memory of an entry besides its text and its key, bytes: the object and its place in the map. */
const ENTRY_BYTES = 200;

interface Entry {
  /** Undefined if the key was given two items under this id: then the id names neither. */
  readonly text: string | undefined;
  readonly bytes: number;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

export interface MemoryItemDependencies {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Memory for the items of all keys together; 0 keeps none. */
  readonly maxBytes: () => number;
}

/** Keeps output items in memory for an hour. If there is no more room, the least recently used are removed. */
export class MemoryOutputItems implements OutputItems {
  readonly #clock: MemoryItemDependencies['clock'];
  readonly #maxBytes: MemoryItemDependencies['maxBytes'];
  /** Entries by key and id, in the order in which they expire. */
  readonly #entries: RecentMap<string, Entry>;
  /** Items that are being written as JSON, large ones in several turns: `find` waits for them. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor({ clock, maxBytes }: MemoryItemDependencies) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
    this.#entries = new RecentMap(Number.POSITIVE_INFINITY, {
      maxSize: maxBytes,
      sizeOf: ({ bytes }) => bytes,
    });
  }

  get bytes(): number {
    return this.#entries.totalSize;
  }

  keep(keyHash: string, item: JsonObject): void {
    const id = stringAt(item, 'id');
    if (id === undefined || this.#maxBytes() === 0) return;
    const name = nameOf(keyHash, id);
    const work = this.#write(name, item);
    // Most items are written in one slice, here and now: a request that refers to one then waits for no promise.
    if (work.next().done === true) return;
    const writing = runInTurns(work).finally(() => {
      if (this.#writing.get(name) === writing) this.#writing.delete(name);
    });
    this.#writing.set(name, writing);
  }

  async find(keyHash: string, ids: ReadonlySet<string>): Promise<FoundItems> {
    await Promise.all([...ids].map((id) => this.#writing.get(nameOf(keyHash, id))));
    return this.#look(keyHash, ids);
  }

  /** Frees the memory of expired items, which `find` no longer returns, and of items beyond a lowered limit. */
  *sweep(): Sliced<void> {
    const pace = new Pace();
    const now = this.#clock.monotonic();
    for (const [name, { expiresAt }] of this.#entries.entries()) {
      if (pace.tick()) yield;
      if (expiresAt > now) break;
      this.#entries.delete(name);
    }
    this.#entries.trim();
  }

  /** Keeps text and not the object: its size is known, it shares no memory with the answer, and it cannot change. */
  *#write(name: string, item: JsonObject): Sliced<void> {
    const pieces = yield* stringifySliced(item);
    this.#put(name, pieces.join(''));
  }

  #put(name: string, text: string): void {
    const known = this.#valid(name);
    const isUnique = known === undefined || known.text === text;
    // Deleted first, so that it is the last that expires.
    if (known !== undefined) this.#entries.delete(name);
    this.#entries.set(name, {
      text: isUnique ? text : undefined,
      bytes: ENTRY_BYTES + name.length + (isUnique ? memoryOf(text) : 0),
      expiresAt: this.#clock.monotonic() + LIFETIME_MS,
    });
  }

  #look(keyHash: string, ids: ReadonlySet<string>): FoundItems {
    const found = new Map<string, string>();
    for (const id of ids) {
      const text = this.#valid(nameOf(keyHash, id))?.text;
      if (text !== undefined) found.set(id, text);
    }
    return found;
  }

  /** The entry under a name, which counts as a use; an expired one is dropped. */
  #valid(name: string): Entry | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.expiresAt > this.#clock.monotonic()) return entry;
    this.#entries.delete(name);
    return undefined;
  }
}

/** Key hashes have one length, so no two pairs make the same name. */
function nameOf(keyHash: string, id: string): string {
  return `${keyHash}:${id}`;
}

/** Upper bound of a text's memory: one byte a character if it is ASCII, else two. */
function memoryOf(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}

/** Milliseconds between sweeps of expired items. */
const SWEEP_EVERY_MS = 60_000;

/** Drops expired output items every minute, also while no request names any. */
export function keepItemsSwept(items: Pick<MemoryOutputItems, 'sweep'>): { close(): void } {
  const timer = setInterval(() => void runInTurns(items.sweep()), SWEEP_EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}
