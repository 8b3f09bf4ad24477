/**
 * Failures in a row. Those that may be due to the requests of one account count for at most half of a cool-down, so
 * that no account alone can begin one for all.
 */
export class FailureTally {
  readonly #byAccount = new Map<string, number>();
  #ofNoAccount = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** `account`: whose request failed; undefined = the failure is due to no account. `threshold`: see `isEnough`. */
  add(account: string | undefined, threshold: number): void {
    if (account === undefined) {
      this.#ofNoAccount++;
      this.#count++;
      return;
    }
    const before = this.#byAccount.get(account) ?? 0;
    if (before >= Math.ceil(threshold / 2)) return;
    this.#byAccount.set(account, before + 1);
    this.#count++;
  }

  /** At least one failure is due to no account, or several accounts have failures. */
  get isFromSeveral(): boolean {
    return this.#ofNoAccount > 0 || this.#byAccount.size > 1;
  }

  isEnough(threshold: number): boolean {
    return this.#count >= threshold && this.isFromSeveral;
  }

  /** Raises the count to that of a cool-down that another process has begun. */
  raiseTo(count: number): void {
    this.#ofNoAccount += Math.max(0, count - this.#count);
    this.#count = Math.max(count, this.#count);
  }

  clear(): void {
    if (this.#count === 0) return;
    this.#byAccount.clear();
    this.#ofNoAccount = 0;
    this.#count = 0;
  }
}
