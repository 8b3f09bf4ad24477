/**
 * Retries onto one site that may always be under way at once, and the share of its calls that they may be beyond
 * that.
 */
const LEAST_RETRIES = 3;
const GREATEST_SHARE = 0.2;

/**
 * Keeps retries from multiplying the load on a site that fails: of its calls under way, only a part may be retries.
 * Each site has its own, so that the failures of one do not take away the fallbacks of others.
 */
export class RetryBudget {
  #calls = 0;
  #retries = 0;

  hasRoom(): boolean {
    return this.#retries < Math.max(LEAST_RETRIES, GREATEST_SHARE * this.#calls);
  }

  beginCall(): void {
    this.#calls++;
  }

  endCall(): void {
    this.#calls--;
  }

  beginRetry(): void {
    this.#retries++;
  }

  endRetry(): void {
    this.#retries--;
  }
}
