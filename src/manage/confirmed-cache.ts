import { RecentMap } from '../kit/collections/recent-map.ts';
import type { Freshness } from './freshness.ts';

/** A cached value says when it was read, by the monotonic clock. */
interface ReadValue {
  readonly readAtMs: number;
  /** True while the store has not answered: such a value is nothing to fall back to. */
  readonly isPending?: boolean;
}

/** A value that may have changed since. */
interface Doubted<V> {
  readonly value: V;
  readonly currentUntilMs: number;
}

/**
 * Values of the store, the most recently used ones. A change must drop what it concerns, so that a value that is still
 * here is as current as the knowledge of changes is (`Freshness`).
 */
export class ConfirmedCache<V extends ReadValue> {
  readonly #freshness: Freshness;
  readonly #known: RecentMap<string, V>;
  /** Values from before changes were missed: used only if they cannot be read again. */
  readonly #doubted: RecentMap<string, Doubted<V>>;

  constructor(max: number, freshness: Freshness) {
    this.#freshness = freshness;
    this.#known = new RecentMap(max);
    this.#doubted = new RecentMap(max);
  }

  /** A value that needs no confirmation. */
  current(id: string): V | undefined {
    const known = this.#known.get(id);
    return known !== undefined && this.#freshness.isCurrent(known.readAtMs) ? known : undefined;
  }

  /** A value that may be used once news of changes was waited for; undefined = it has to be read, known at once. */
  confirmed(id: string): Promise<V | undefined> | undefined {
    const known = this.#known.get(id);
    return known && this.#confirm(id, known);
  }

  /** What was known before changes were missed, while it is trusted: for a read that has failed. */
  doubted(id: string): V | undefined {
    const doubted = this.#doubted.get(id);
    return doubted !== undefined && this.#freshness.isTrusted(doubted.currentUntilMs)
      ? doubted.value
      : undefined;
  }

  set(id: string, value: V): void {
    this.#known.set(id, value);
  }

  /** Drops a value, or only this one: it is read again. What is doubted stays for the case that this fails. */
  drop(id: string, value?: V): void {
    if (value === undefined || this.#known.peek(id) === value) this.#known.delete(id);
  }

  /**
   * The store has answered about this value: what was doubted is not needed any more. With a value only if that one is
   * still cached: if changes were missed while it was read, the doubted one stays, in case the next read fails.
   */
  answered(id: string, value?: V): void {
    if (value === undefined || this.#known.peek(id) === value) this.#doubted.delete(id);
  }

  forget(id: string): void {
    this.#known.delete(id);
    this.#doubted.delete(id);
  }

  /** Forgets the values that a change concerns. */
  forgetWhere(isConcerned: (value: V) => boolean): void {
    for (const [id, value] of this.#known.entries()) if (isConcerned(value)) this.#known.delete(id);
    for (const [id, { value }] of this.#doubted.entries()) if (isConcerned(value)) this.#doubted.delete(id);
  }

  /** Changes were missed, as after a restart of the database: every value is read again. */
  doubtAll(): void {
    for (const [id, value] of this.#known.entries()) {
      if (value.isPending === true) continue;
      this.#doubted.set(id, { value, currentUntilMs: this.#freshness.currentUntilMs(value.readAtMs) });
    }
    this.#known.clear();
  }

  async #confirm(id: string, known: V): Promise<V | undefined> {
    await this.#freshness.confirm();
    const isKept = this.#known.get(id) === known;
    return isKept && this.#freshness.isTrusted(this.#freshness.currentUntilMs(known.readAtMs))
      ? known
      : undefined;
  }
}
