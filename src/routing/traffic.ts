import { type Nanos, usdOf } from '../kit/money.ts';
import type { Clock } from '../kit/time/clock.ts';
import { RollingSums } from './health/rolling-sums.ts';

/** What one generation took and cost. */
export interface Spending {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanos: Nanos;
}

/** Models that are remembered; the one unused longest goes. About 600 bytes each. */
const MOST_MODELS = 4096;

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Columns: tokens of all kinds, and nano-dollars. */
const TOKENS = 0;
const NANOS = 1;
const COLUMNS = 2;

/** What models really cost, by the gateway's own traffic of the last 24 hours. */
export class Traffic {
  readonly #clock: Clock;
  readonly #mostModels: number;
  /** In the order in which they were last used. */
  readonly #models = new Map<string, RollingSums>();

  constructor({ clock }: { clock: Clock }, mostModels: number = MOST_MODELS) {
    this.#clock = clock;
    this.#mostModels = mostModels;
  }

  add(modelId: string, { inputTokens, outputTokens, costNanos }: Spending): void {
    const sums = this.#touch(modelId);
    const nowMs = this.#clock.monotonic();
    sums.add(TOKENS, inputTokens + outputTokens, nowMs);
    sums.add(NANOS, Number(costNanos), nowMs);
  }

  /** USD per token, prompt and completion in the proportion in which they were used; undefined = no traffic. */
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
    if (this.#models.size >= this.#mostModels) this.#forgetOldest();
    const sums = known ?? new RollingSums(new Float64Array(HOURS * COLUMNS), COLUMNS, HOUR_MS);
    this.#models.set(modelId, sums);
    return sums;
  }

  #forgetOldest(): void {
    const [oldest] = this.#models.keys();
    if (oldest !== undefined) this.#models.delete(oldest);
  }
}
