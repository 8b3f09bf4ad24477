/** Concurrent retries to a site that are always allowed. */
const MIN_RETRIES = 3;

/** Share of a site's open calls that may be retries. */
const MAX_RETRY_SHARE = 0.2;

/**
 * Limits the retries among the open calls of a site, so that they do not multiply the load on a failing one. Each site
 * has its own budget, so that the failures of one do not use up the fallbacks to others.
 */
export class RetryBudget {
  #calls = 0;
  #retries = 0;

  hasRoom(): boolean {
    return this.#retries < Math.max(MIN_RETRIES, MAX_RETRY_SHARE * this.#calls);
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
