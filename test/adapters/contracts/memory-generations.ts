import type {
  AccountWriteOff,
  GenerationStore,
  SettledPosition,
  StoredGeneration,
} from '../../../src/ports/generations/generations.ts';

/** Rows of generations in memory. */
export class MemoryGenerations implements GenerationStore {
  readonly rows = new Map<string, StoredGeneration>();
  /** If set, `add` rejects with it. */
  failure: Error | undefined;

  async add(generations: readonly StoredGeneration[]): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    for (const generation of generations) {
      if (!this.rows.has(generation.id)) this.rows.set(generation.id, generation);
    }
  }

  async find(accountId: string, id: string): Promise<StoredGeneration | undefined> {
    const row = this.rows.get(id);
    return row?.scopes.account === accountId ? row : undefined;
  }

  async count(): Promise<number> {
    return this.rows.size;
  }

  async settledAfter(place: SettledPosition, limit: number): Promise<StoredGeneration[]> {
    const isBehind = ({ settledAtMs, id }: StoredGeneration) =>
      settledAtMs > place.settledAtMs || (settledAtMs === place.settledAtMs && id > place.id);
    return [...this.rows.values()]
      .filter(isBehind)
      .sort((one, other) => one.settledAtMs - other.settledAtMs || (one.id < other.id ? -1 : 1))
      .slice(0, limit);
  }

  async writtenOff(): Promise<AccountWriteOff[]> {
    throw new Error('no test sums write-offs in memory');
  }

  async prune(beforeMs: number, limit: number): Promise<number> {
    const old = [...this.rows.values()].filter(({ settledAtMs }) => settledAtMs < beforeMs).slice(0, limit);
    for (const { id } of old) this.rows.delete(id);
    return old.length;
  }
}
