const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 600_000;

interface PlannedRetry {
  readonly dueAtMs: number;
  readonly nextRetryMs: number;
}

/** Ends that the database has refused, by the ids of their generations: each is tried again after twice as long. */
export class RefusedEnds {
  readonly #refused = new Map<string, PlannedRetry>();
  readonly #nowMs: () => number;

  /** `nowMs`: a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#refused.size;
  }

  has(generationId: string): boolean {
    return this.#refused.has(generationId);
  }

  /** Was refused, for the first time or again. */
  add(generationId: string): void {
    const retryMs = this.#refused.get(generationId)?.nextRetryMs ?? FIRST_RETRY_MS;
    this.#refused.set(generationId, {
      dueAtMs: this.#nowMs() + retryMs,
      nextRetryMs: Math.min(LONGEST_RETRY_MS, retryMs * 2),
    });
  }

  /** False when it was not refused. */
  delete(generationId: string): boolean {
    return this.#refused.delete(generationId);
  }

  /** One that is to be tried again now. */
  due(): string | undefined {
    const nowMs = this.#nowMs();
    for (const [generationId, { dueAtMs }] of this.#refused) {
      if (dueAtMs <= nowMs) return generationId;
    }
    return undefined;
  }

  /** Milliseconds until one is to be tried again; undefined when there is none. */
  dueInMs(): number | undefined {
    let first: number | undefined;
    for (const { dueAtMs } of this.#refused.values()) {
      if (first === undefined || dueAtMs < first) first = dueAtMs;
    }
    return first === undefined ? undefined : Math.max(0, first - this.#nowMs());
  }
}
