const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 600_000;

interface PlannedRetry {
  readonly dueAtMs: number;
  readonly nextRetryMs: number;
}

/** Ends that the database refused, by generation id. The time until the next retry doubles each time. */
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

  /** Plans the next retry of a refused end. */
  add(generationId: string): void {
    const retryMs = this.#refused.get(generationId)?.nextRetryMs ?? FIRST_RETRY_MS;
    this.#refused.set(generationId, {
      dueAtMs: this.#nowMs() + retryMs,
      nextRetryMs: Math.min(MAX_RETRY_MS, retryMs * 2),
    });
  }

  delete(generationId: string): boolean {
    return this.#refused.delete(generationId);
  }

  /** An end whose retry is due. */
  due(): string | undefined {
    const nowMs = this.#nowMs();
    for (const [generationId, { dueAtMs }] of this.#refused) {
      if (dueAtMs <= nowMs) return generationId;
    }
    return undefined;
  }

  /** Milliseconds until the next retry; undefined when there is none. */
  dueInMs(): number | undefined {
    let first: number | undefined;
    for (const { dueAtMs } of this.#refused.values()) {
      if (first === undefined || dueAtMs < first) first = dueAtMs;
    }
    return first === undefined ? undefined : Math.max(0, first - this.#nowMs());
  }
}
