import type { DuckdbThread } from './driver/duckdb-thread.ts';
import { plain } from './driver/statement.ts';
import { PRUNED_BEFORE } from './schema.ts';

/** The moment before which events were pruned, read once: it changes only when the store prunes. */
export class PrunedBefore {
  #knownMs: number | undefined;
  #changes = 0;

  /** Epoch milliseconds; 0 = nothing was pruned yet. */
  async readMs(thread: Pick<DuckdbThread, 'query'>): Promise<number> {
    if (this.#knownMs !== undefined) return this.#knownMs;
    const changes = this.#changes;
    const [row] = await thread.query(plain(PRUNED_BEFORE));
    const beforeMs = Number(row?.[0] ?? 0);
    if (changes === this.#changes) this.#knownMs = beforeMs;
    return beforeMs;
  }

  /** Call after events may have been pruned. */
  changed(): void {
    this.#changes++;
    this.#knownMs = undefined;
  }
}
