import type { BucketCounts, MeasuredCalls } from '../../ports/shared/routing-memory.ts';

class Buckets {
  #counts = new Map<number, number>();

  add(bucket: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
  }

  take(): BucketCounts {
    const counts = [...this.#counts];
    this.#counts = new Map();
    return counts;
  }
}

/** Measurements of a site that other processes do not have yet. */
export class MeasuredTally {
  calls = 0;
  failures = 0;
  failuresOfOne = 0;
  toolAnswers = 0;
  badToolAnswers = 0;
  readonly latency = new Buckets();
  readonly throughput = new Buckets();

  /** What was measured since the last time; null = nothing. */
  take(): MeasuredCalls | null {
    const measured = {
      calls: this.calls,
      failures: this.failures,
      failuresOfOne: this.failuresOfOne,
      toolAnswers: this.toolAnswers,
      badToolAnswers: this.badToolAnswers,
      latency: this.latency.take(),
      throughput: this.throughput.take(),
    };
    this.calls = 0;
    this.failures = 0;
    this.failuresOfOne = 0;
    this.toolAnswers = 0;
    this.badToolAnswers = 0;
    const isNothing = Object.values(measured).every((value) =>
      Array.isArray(value) ? value.length === 0 : value === 0,
    );
    return isNothing ? null : measured;
  }
}
