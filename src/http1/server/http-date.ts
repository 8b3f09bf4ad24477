const SECOND_MS = 1_000;

/** The moment of an answer as its head has it. Written once a second. */
export class HttpDate {
  #second = Number.NaN;
  #text = '';

  at(nowMs: number): string {
    const second = Math.floor(nowMs / SECOND_MS);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(nowMs).toUTCString();
    }
    return this.#text;
  }
}
