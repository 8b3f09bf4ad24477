type Warn = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Tells once that something fails, however often it is tried, and once that it works again. */
export class ToldOnce {
  readonly #warn: Warn;
  readonly #words: { readonly fails: string; readonly works: string };
  #isFailing = false;

  constructor(warn: Warn, words: { readonly fails: string; readonly works: string }) {
    this.#warn = warn;
    this.#words = words;
  }

  failed(error: unknown): void {
    if (!this.#isFailing) this.#warn(this.#words.fails, { error });
    this.#isFailing = true;
  }

  worked(): void {
    if (this.#isFailing) this.#warn(this.#words.works);
    this.#isFailing = false;
  }
}
