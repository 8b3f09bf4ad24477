interface Entry<K, V> {
  readonly key: K;
  value: V;
  size: number;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
}

/** What may bound a `RecentMap` besides the number of its entries. */
export interface RecentMapOptions<V> {
  /** Most of the sizes of all entries together; asked for with each `set`. */
  readonly maxSize?: () => number;
  /** Absent: each entry counts as 1. */
  readonly sizeOf?: (value: V) => number;
  /** Called with each value that is evicted or deleted, but not with one that `set` replaces. */
  readonly onRemoved?: (value: V) => void;
}

/**
 * A map of at most `max` entries: the least recently used is evicted. All operations take constant time, and only
 * entries that are there take memory.
 */
export class RecentMap<K, V> {
  readonly #max: number;
  readonly #maxSize: () => number;
  readonly #sizeOf: (value: V) => number;
  readonly #onRemoved: ((value: V) => void) | undefined;
  readonly #entries = new Map<K, Entry<K, V>>();
  /** A list in the order of the last use: a Map used as a queue would have to skip its deleted entries. */
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;
  #totalSize = 0;

  constructor(max: number, { maxSize = unlimited, sizeOf = one, onRemoved }: RecentMapOptions<V> = {}) {
    this.#max = max;
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
    this.#onRemoved = onRemoved;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The sizes of all entries together. */
  get totalSize(): number {
    return this.#totalSize;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#touch(entry);
    return entry?.value;
  }

  /** Does not count as a use. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Does not count as a use. */
  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** A value that is larger than all together may be is not kept. */
  set(key: K, value: V, size = this.#sizeOf(value)): void {
    if (size > this.#maxSize()) {
      this.delete(key);
      return;
    }
    const known = this.#entries.get(key);
    if (known === undefined) {
      const entry = { key, value, size, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
      this.#append(entry);
      this.#totalSize += size;
    } else {
      this.#totalSize += size - known.size;
      known.value = value;
      known.size = size;
      this.#touch(known);
    }
    this.trim();
  }

  /** False if there was no such entry. */
  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#remove(entry);
    return true;
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#remove(entry);
  }

  /** Evicts entries beyond the bounds: needed only after `maxSize` has fallen. */
  trim(): void {
    const maxSize = this.#maxSize();
    while (this.#entries.size > this.#max || this.#totalSize > maxSize) {
      if (this.#oldest === undefined) return;
      this.#remove(this.#oldest);
    }
  }

  /** Those that were added first come first. Entries may be deleted meanwhile. */
  *entries(): Generator<readonly [key: K, value: V]> {
    for (const { key, value } of this.#entries.values()) yield [key, value];
  }

  #remove(entry: Entry<K, V>): void {
    this.#entries.delete(entry.key);
    this.#unlink(entry);
    this.#totalSize -= entry.size;
    this.#onRemoved?.(entry.value);
  }

  #touch(entry: Entry<K, V>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<K, V>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}

const unlimited = () => Number.POSITIVE_INFINITY;
const one = () => 1;
