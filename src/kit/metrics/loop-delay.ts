import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the loop is looked at, milliseconds. */
const RESOLUTION_MS = 20;

/** After so long what was measured is of the past, milliseconds. */
const PERIOD_MS = 60_000;

/** Shares of all looks; 1 stands for the longest delay. */
export const DELAY_QUANTILES = [0.5, 0.99, 1] as const;

type Delays = Readonly<Record<(typeof DELAY_QUANTILES)[number], number>>;

/** How late the loop was lately: in this period or in the one before, whichever was worse. */
export class LoopDelay {
  readonly #looks = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #before: Delays = { 0.5: 0, 0.99: 0, 1: 0 };
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#looks.enable();
    this.#timer = setInterval(() => this.#turnOver(), PERIOD_MS).unref();
  }

  /** Seconds, for each quantile. */
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
    this.#looks.disable();
  }

  #turnOver(): void {
    this.#before = this.#now();
    this.#looks.reset();
  }

  /** A look that came in time is one interval after the last. */
  #now(): Delays {
    const late = (quantile: number) =>
      this.#looks.count === 0
        ? 0
        : Math.max(0, this.#looks.percentile(quantile * 100) / 1e9 - RESOLUTION_MS / 1e3);
    return { 0.5: late(0.5), 0.99: late(0.99), 1: late(1) };
  }
}
