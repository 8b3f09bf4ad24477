/** Generations that are remembered until all readers have taken them; beyond it, contents are left to their age. */
const MAX_REMEMBERED = 200_000;

/** Says which contents all followers of a workspace have read. */
export class ReadContents {
  /** Readers that have taken a generation, by its id; only if there are several. */
  readonly #taken = new Map<string, Set<string>>();

  /** A reader has taken generations. Returns those that all readers have taken. */
  taken(reader: string, readers: readonly string[], generationIds: readonly string[]): readonly string[] {
    if (readers.length <= 1) return generationIds;
    return generationIds.filter((id) => {
      const known = this.#taken.get(id) ?? new Set();
      known.add(reader);
      if (readers.every((each) => known.has(each))) {
        this.#taken.delete(id);
        return true;
      }
      if (this.#taken.size < MAX_REMEMBERED) this.#taken.set(id, known);
      return false;
    });
  }
}
