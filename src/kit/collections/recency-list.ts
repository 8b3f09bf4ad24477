/** A member of a recency list. In one list at most. */
export interface RecencyNode<T extends RecencyNode<T>> {
  older: T | undefined;
  newer: T | undefined;
}

/**
 * Members in the order of their last use. Every step takes the same time however many there are: a Map that is used as a queue
 * has to pass over what was deleted at its beginning.
 */
export class RecencyList<T extends RecencyNode<T>> {
  #oldest: T | undefined;
  #newest: T | undefined;

  /** The member that was not used for longest. */
  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Adds a member that is in no list, as the one used last. */
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

  /** A member was used. */
  touch(node: T): void {
    this.remove(node);
    this.add(node);
  }
}
