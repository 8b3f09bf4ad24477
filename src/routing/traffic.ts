import { type Nanos, usdOf } from '../kit/money.ts';
import type { Clock } from '../kit/time/clock.ts';
import { RollingSums } from './health/rolling-sums.ts';

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanos: Nanos;
}

/** Models in memory, about 600 bytes each; the least recently used is evicted. */
const MAX_MODELS = 4096;

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Columns of the sums: tokens of all kinds, and nano-dollars. */
const TOKENS = 0;
const NANOS = 1;
const COLUMNS = 2;

/** Actual cost per token of models, from the gateway's traffic of the last 24 hours. */
export class Traffic {
  readonly #clock: Clock;
  readonly #maxModels: number;
  /** Least recently used first. */
  readonly #models = new Map<string, RollingSums>();

  constructor({ clock }: { clock: Clock }, maxModels: number = MAX_MODELS) {
    this.#clock = clock;
    this.#maxModels = maxModels;
  }

  add(modelId: string, { inputTokens, outputTokens, costNanos }: ModelUsage): void {
    const sums = this.#touch(modelId);
    const nowMs = this.#clock.monotonic();
    sums.add(TOKENS, inputTokens + outputTokens, nowMs);
    sums.add(NANOS, Number(costNanos), nowMs);
  }

  /** USD per token, averaged over prompt and completion tokens as used; undefined = no traffic. */
  weightedPrice(modelId: string): number | undefined {
    const sums = this.#models.get(modelId);
    const nowMs = this.#clock.monotonic();
    const tokens = sums?.sum(TOKENS, nowMs) ?? 0;
    return sums === undefined || tokens === 0
      ? undefined
      : usdOf(BigInt(Math.round(sums.sum(NANOS, nowMs)))) / tokens;
  }

  #touch(modelId: string): RollingSums {
    const known = this.#models.get(modelId);
    this.#models.delete(modelId);
    if (this.#models.size >= this.#maxModels) this.#forgetOldest();
    const sums = known ?? new RollingSums(new Float64Array(HOURS * COLUMNS), COLUMNS, HOUR_MS);
    this.#models.set(modelId, sums);
    return sums;
  }

  #forgetOldest(): void {
    const [oldest] = this.#models.keys();
    if (oldest !== undefined) this.#models.delete(oldest);
  }
}
