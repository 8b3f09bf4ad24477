/** Numbers of a run: its positions in the normal form and in the original, and where it ends in the original. */
const RUN_NUMBERS = 3;
/** Instead of the end of a run: each of its units stands for one of the original. */
const EACH = -1;

/**
 * For each UTF-16 unit of a normal form the span of the original that it was made of, as runs: in most of them each
 * unit stands for one of the original, in some all units stand for the same characters.
 */
export class FormSpans {
  #runs = new Int32Array(16 * RUN_NUMBERS);
  #count = 0;
  /** Position behind the last unit. */
  #end: number;

  constructor(base: number) {
    this.#end = base;
  }

  /** Units that stand for one of the original each, from a place of it on. */
  addEach(at: number, length: number): void {
    if (length === 0) return;
    const last = (this.#count - 1) * RUN_NUMBERS;
    const goesOn =
      last >= 0 &&
      this.#runs[last + 2] === EACH &&
      this.#startAt(last) + this.#end - this.#positionAt(last) === at;
    if (!goesOn) this.#addRun(at, EACH);
    this.#end += length;
  }

  /** Units that stand for a span of the original together. */
  addWhole(start: number, end: number, length: number): void {
    if (length === 1 && end === start + 1) this.addEach(start, 1);
    else if (length > 0) {
      this.#addRun(start, end);
      this.#end += length;
    }
  }

  startOf(position: number): number | undefined {
    const run = this.#runOf(position);
    if (run === undefined) return undefined;
    const start = this.#startAt(run);
    return this.#runs[run + 2] === EACH ? start + position - this.#positionAt(run) : start;
  }

  endBefore(position: number): number | undefined {
    const run = this.#runOf(position - 1);
    if (run === undefined) return undefined;
    const end = this.#runs[run + 2] as number;
    return end === EACH ? this.#startAt(run) + position - this.#positionAt(run) : end;
  }

  /** Forgets what is before a position. */
  drop(position: number): void {
    const run = this.#runOf(position) ?? this.#count * RUN_NUMBERS;
    const start = this.startOf(position);
    this.#runs = this.#runs.slice(run, Math.max(run + RUN_NUMBERS, this.#count * RUN_NUMBERS));
    this.#count = Math.max(0, this.#count - run / RUN_NUMBERS);
    if (start === undefined) return;
    this.#runs[0] = position;
    this.#runs[1] = start;
  }

  #positionAt(run: number): number {
    return this.#runs[run] as number;
  }

  #startAt(run: number): number {
    return this.#runs[run + 1] as number;
  }

  /** Index of the first number of the run that a position is in. */
  #runOf(position: number): number | undefined {
    let low = 0;
    let high = this.#count - 1;
    if (high < 0 || position >= this.#end || position < this.#positionAt(0)) return undefined;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#positionAt(middle * RUN_NUMBERS) <= position) low = middle;
      else high = middle - 1;
    }
    return low * RUN_NUMBERS;
  }

  #addRun(start: number, end: number): void {
    const at = this.#count * RUN_NUMBERS;
    if (at + RUN_NUMBERS > this.#runs.length) {
      const runs = new Int32Array(2 * (at + RUN_NUMBERS));
      runs.set(this.#runs);
      this.#runs = runs;
    }
    this.#runs[at] = this.#end;
    this.#runs[at + 1] = start;
    this.#runs[at + 2] = end;
    this.#count++;
  }
}
