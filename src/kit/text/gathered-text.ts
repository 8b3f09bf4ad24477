/** Characters above which the text is handed over at once. */
const MAX_GATHERED = 64 * 1024;

/** Gathers text that is written piece by piece, and hands over all pieces of one turn of the event loop together. */
export class GatheredText {
  readonly #write: (text: string) => void;
  #gathered = '';
  #isScheduled = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(piece: string): void {
    this.#gathered += piece;
    if (this.#gathered.length > MAX_GATHERED) this.flush();
    if (this.#isScheduled || this.#gathered === '') return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  flush(): void {
    if (this.#gathered === '') return;
    const text = this.#gathered;
    this.#gathered = '';
    this.#write(text);
  }

  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
  };
}
