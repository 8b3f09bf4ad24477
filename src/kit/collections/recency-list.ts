/** A member of a recency list. In one list at most. */
export interface RecencyNode<T extends RecencyNode<T>> {
  older: T | undefined;
  newer: T | undefined;
}

/**
 * Members in the order of their last use, all operations in constant time; a Map used as a queue has to skip its
 * deleted entries. Not `lru-cache`: its size bound is fixed when it is made, ours changes with the configuration, and
 * it finds expired entries by visiting all, while the user of this list keeps a second order, that of expiry.
 */
export class RecencyList<T extends RecencyNode<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;

  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Adds a member that is in no list, as the most recently used. */
  add(node: T): void {
    node.older = this.#newest;
    node.newer = undefined;
    if (this.#newest === undefined) this.#oldest = node;
    else this.#newest.newer = node;
    this.#newest = node;
  }

  remove(node: T): void {
    if (node.older === undefined) this.#oldest = node.newer;
    else node.older.newer = node.newer;
    if (node.newer === undefined) this.#newest = node.older;
    else node.newer.older = node.older;
    node.older = undefined;
    node.newer = undefined;
  }

  touch(node: T): void {
    this.remove(node);
    this.add(node);
  }
}
