/** Lines, and characters of them, that wait at most: the oldest beyond are dropped. */
export const MAX_WAITING_LINES = 10_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Lines, and characters of them, that are sent at once. */
const BATCH_LINES = 1_000;
const BATCH_CHARACTERS = 512 * 1024;

export class WaitingLines {
  #lines: string[] = [];
  /** Place of the first line that waits. */
  #first = 0;
  #characters = 0;
  #dropped = 0;

  get count(): number {
    return this.#lines.length - this.#first;
  }

  /** Lines that were never sent. */
  get dropped(): number {
    return this.#dropped;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#characters += line.length;
    while (this.count > MAX_WAITING_LINES || (this.#characters > MAX_CHARACTERS && this.count > 1)) {
      this.#forget(1);
      this.#dropped++;
    }
  }

  /** Removes the lines to send next, and returns them. */
  take(): readonly string[] {
    let end = this.#first;
    let characters = 0;
    while (end < this.#lines.length && end - this.#first < BATCH_LINES && characters < BATCH_CHARACTERS) {
      characters += this.#lines[end]?.length ?? 0;
      end++;
    }
    const taken = this.#lines.slice(this.#first, end);
    this.#forget(taken.length);
    return taken;
  }

  /** Counts lines that were taken and cannot be sent. */
  noteDropped(lines: readonly string[]): void {
    this.#dropped += lines.length;
  }

  #forget(count: number): void {
    for (let place = 0; place < count; place++) {
      this.#characters -= this.#lines[this.#first]?.length ?? 0;
      this.#first++;
    }
    // Not for each line: what is left is copied.
    if (this.#first < BATCH_LINES && this.count > 0) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}
