/** Characters that do not wait for more. */
const MOST_GATHERED = 64 * 1024;

/** Gathers text that is written piece by piece, and hands over all pieces of one turn of the event loop together. */
export class GatheredText {
  readonly #write: (text: string) => void;
  #gathered = '';
  #isAwaited = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(piece: string): void {
    this.#gathered += piece;
    if (this.#gathered.length > MOST_GATHERED) this.flush();
    if (this.#isAwaited || this.#gathered === '') return;
    this.#isAwaited = true;
    setImmediate(this.#endTurn);
  }

  /** Hands over what there is, now. */
  flush(): void {
    if (this.#gathered === '') return;
    const text = this.#gathered;
    this.#gathered = '';
    this.#write(text);
  }

  readonly #endTurn = (): void => {
    this.#isAwaited = false;
    this.flush();
  };
}
