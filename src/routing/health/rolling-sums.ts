/** Where sums are kept: the kind says how great they may become and how many bytes each takes. */
export type Cells = Uint16Array | Uint32Array | Float64Array;

/**
 * Sums over the time just past, one per column, that move on slice by slice: with six slices of five seconds, what
 * happened in the last 25 to 30 seconds. Takes no more memory than its cells. Times are milliseconds of one clock, and
 * those that lie before an earlier one count as that.
 */
export class RollingSums {
  readonly #cells: Cells;
  readonly #columns: number;
  readonly #sliceMs: number;
  readonly #slices: number;
  readonly #greatest: number;
  /** The newest slice, counted from the clock's zero. */
  #newest = 0;

  /** `cells`: a multiple of `columns`, as many times as there are slices. */
  constructor(cells: Cells, columns: number, sliceMs: number) {
    this.#cells = cells;
    this.#columns = columns;
    this.#sliceMs = sliceMs;
    this.#slices = cells.length / columns;
    this.#greatest =
      cells instanceof Float64Array ? Number.MAX_VALUE : 2 ** (8 * cells.BYTES_PER_ELEMENT) - 1;
  }

  /** Adds to a column now. A sum that its cell cannot hold stays at the greatest that it can. */
  add(column: number, amount: number, nowMs: number): void {
    this.#moveTo(nowMs);
    const cell = this.#firstCellOf(this.#newest) + column;
    this.#cells[cell] = Math.min(this.#greatest, this.#at(cell) + amount);
  }

  /** The sum of a column over the newest slices; over all of them unless told how many. */
  sum(column: number, nowMs: number, slices: number = this.#slices): number {
    this.#moveTo(nowMs);
    let sum = 0;
    for (let age = 0; age < slices; age++) sum += this.#at(this.#firstCellOf(this.#newest - age) + column);
    return sum;
  }

  /** The sums of all columns over all slices. */
  sums(nowMs: number): Float64Array {
    this.#moveTo(nowMs);
    const sums = new Float64Array(this.#columns);
    for (let cell = 0, column = 0; cell < this.#cells.length; cell++) {
      sums[column] = (sums[column] ?? 0) + this.#at(cell);
      column = column + 1 === this.#columns ? 0 : column + 1;
    }
    return sums;
  }

  #moveTo(nowMs: number): void {
    const slice = Math.floor(nowMs / this.#sliceMs);
    if (slice <= this.#newest) return;
    const first = Math.max(this.#newest + 1, slice - this.#slices + 1);
    for (let passed = first; passed <= slice; passed++) {
      const start = this.#firstCellOf(passed);
      this.#cells.fill(0, start, start + this.#columns);
    }
    this.#newest = slice;
  }

  #firstCellOf(slice: number): number {
    return ((slice + this.#slices) % this.#slices) * this.#columns;
  }

  #at(cell: number): number {
    return this.#cells[cell] ?? 0;
  }
}
