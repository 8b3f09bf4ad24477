import type { Percentile, Percentiles } from './endpoint-health.ts';
import { RollingSums } from './rolling-sums.ts';

/**
 * Ratio of the bounds of adjacent buckets: the middle of a bucket is off by less than 5 percent. Gateways of two
 * releases tell each other counts by bucket, so that changing it, or a scale, needs another member of MeasuredCalls.
 */
const GROWTH = 1.1;
const LOG_GROWTH = Math.log(GROWTH);
const BUCKETS = 128;

const SHARES: readonly (readonly [Percentile, number])[] = [
  ['p50', 0.5],
  ['p75', 0.75],
  ['p90', 0.9],
  ['p99', 0.99],
];

/** Scale of a quantity. `least`: smaller values share the first bucket. `better`: the good end. */
export interface Scale {
  readonly least: number;
  readonly better: 'lower' | 'higher';
}

/** Milliseconds to the first token, up to about 400 seconds. */
export const LATENCY: Scale = { least: 2, better: 'lower' };

/** Tokens per second, up to about 50,000. */
export const THROUGHPUT: Scale = { least: 0.25, better: 'higher' };

/** Rolling histogram with logarithmic buckets; values are exact to about 5 percent. */
export class RollingHistogram {
  readonly #scale: Scale;
  readonly #counts: RollingSums;

  constructor(scale: Scale, slices: number, sliceMs: number) {
    this.#scale = scale;
    this.#counts = new RollingSums(new Uint16Array(slices * BUCKETS), BUCKETS, sliceMs);
  }

  bucketOf(value: number): number {
    const bucket = Math.floor(Math.log(value / this.#scale.least) / LOG_GROWTH);
    return Math.min(BUCKETS - 1, Math.max(0, bucket));
  }

  /** Counts values of a bucket; a bucket that there is not is ignored. */
  add(bucket: number, count: number, nowMs: number): void {
    if (Number.isInteger(bucket) && bucket >= 0 && bucket < BUCKETS) this.#counts.add(bucket, count, nowMs);
  }

  /** Values that 50, 75, 90 and 99 of 100 reached or bettered; undefined if there are none. */
  percentiles(nowMs: number): Percentiles | undefined {
    const counts = this.#counts.sums(nowMs);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return undefined;
    const goodFirst = this.#scale.better === 'lower' ? counts : counts.toReversed();
    const percentiles: Record<Percentile, number> = { p50: 0, p75: 0, p90: 0, p99: 0 };
    let seen = 0;
    let place = -1;
    for (const [name, share] of SHARES) {
      const wanted = Math.ceil(share * total);
      while (seen < wanted) seen += goodFirst[++place] ?? 0;
      percentiles[name] = this.#middleOf(this.#scale.better === 'lower' ? place : BUCKETS - 1 - place);
    }
    return percentiles;
  }

  #middleOf(bucket: number): number {
    return Number((this.#scale.least * GROWTH ** (bucket + 0.5)).toPrecision(4));
  }
}
