import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

const PERIOD_MS = 60_000;

/** Quantiles that are exposed; 1 is the longest delay. */
export const DELAY_QUANTILES = [0.5, 0.99, 1] as const;

type Delays = Readonly<Record<(typeof DELAY_QUANTILES)[number], number>>;

/** Delay of the event loop: the worse of the current and the previous period. */
export class LoopDelay {
  readonly #samples = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #before: Delays = { 0.5: 0, 0.99: 0, 1: 0 };
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#samples.enable();
    this.#timer = setInterval(() => this.#turnOver(), PERIOD_MS).unref();
  }

  read(): (readonly [quantile: string, seconds: number])[] {
    const now = this.#now();
    return DELAY_QUANTILES.map((quantile) => [
      String(quantile),
      Math.max(now[quantile], this.#before[quantile]),
    ]);
  }

  /** The longest delay, seconds. */
  get longest(): number {
    return Math.max(this.#now()[1], this.#before[1]);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#samples.disable();
  }

  #turnOver(): void {
    this.#before = this.#now();
    this.#samples.reset();
  }

  /** Samples measure the time between two of them, so one interval is subtracted. */
  #now(): Delays {
    const late = (quantile: number) =>
      this.#samples.count === 0
        ? 0
        : Math.max(0, this.#samples.percentile(quantile * 100) / 1e9 - RESOLUTION_MS / 1e3);
    return { 0.5: late(0.5), 0.99: late(0.99), 1: late(1) };
  }
}
