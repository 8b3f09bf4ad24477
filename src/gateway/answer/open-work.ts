/** Counts answers with an open account, so that stores are not closed while an answer needs them. */
export class OpenWork {
  #open = 0;
  #waiting: (() => void)[] = [];

  enter(): void {
    this.#open += 1;
  }

  leave(): void {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is open. */
  done(): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
