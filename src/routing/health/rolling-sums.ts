/** Storage of the sums; its kind decides their range and size. */
export type Cells = Uint16Array | Uint32Array | Float64Array;

/**
 * Rolling sums, one per column, in slices of time: six slices of five seconds cover the last 25 to 30 seconds. Memory
 * is that of the cells. Times are milliseconds of one clock; a time before the newest slice counts as in it.
 */
export class RollingSums {
  readonly #cells: Cells;
  readonly #columns: number;
  readonly #sliceMs: number;
  readonly #slices: number;
  readonly #maxValue: number;
  /** The newest slice, counted from the clock's zero. */
  #newest = 0;

  /** `cells`: its length is columns x slices. */
  constructor(cells: Cells, columns: number, sliceMs: number) {
    this.#cells = cells;
    this.#columns = columns;
    this.#sliceMs = sliceMs;
    this.#slices = cells.length / columns;
    this.#maxValue =
      cells instanceof Float64Array ? Number.MAX_VALUE : 2 ** (8 * cells.BYTES_PER_ELEMENT) - 1;
  }

  /** Adds to a column. Saturates at the largest value of a cell. */
  add(column: number, amount: number, nowMs: number): void {
    this.#moveTo(nowMs);
    const cell = this.#firstCellOf(this.#newest) + column;
    this.#cells[cell] = Math.min(this.#maxValue, this.#at(cell) + amount);
  }

  /** The sum of a column over the newest `slices`; default: all. */
  sum(column: number, nowMs: number, slices: number = this.#slices): number {
    this.#moveTo(nowMs);
    let sum = 0;
    for (let age = 0; age < slices; age++) sum += this.#at(this.#firstCellOf(this.#newest - age) + column);
    return sum;
  }

  /** Sums of a column over groups of `width` slices, oldest first. The newest group is the last. */
  series(column: number, nowMs: number, width: number): number[] {
    this.#moveTo(nowMs);
    const sums = new Array<number>(Math.floor(this.#slices / width)).fill(0);
    for (let age = 0; age < sums.length * width; age++) {
      const at = sums.length - 1 - Math.floor(age / width);
      sums[at] = (sums[at] ?? 0) + this.#at(this.#firstCellOf(this.#newest - age) + column);
    }
    return sums;
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
