export class UnitText {
  #units: Uint16Array<ArrayBuffer>;
  #length = 0;

  /** `expected`: units that it will probably have. */
  constructor(expected: number) {
    this.#units = new Uint16Array(expected + USUAL_GROWTH);
  }

  addCode(code: number): void {
    if (this.#length + 2 > this.#units.length) this.#grow(2);
    if (code < 0x10000) this.#units[this.#length++] = code;
    else {
      this.#units[this.#length++] = 0xd7c0 + (code >> 10);
      this.#units[this.#length++] = 0xdc00 | (code & 0x3ff);
    }
  }

  addUnits(added: Uint16Array): void {
    if (this.#length + added.length > this.#units.length) this.#grow(added.length);
    const units = this.#units;
    let length = this.#length;
    for (let at = 0; at < added.length; at++) units[length++] = added[at] as number;
    this.#length = length;
  }

  toString(): string {
    return Buffer.from(this.#units.buffer, 0, 2 * this.#length).toString('utf16le');
  }

  #grow(by: number): void {
    const units = new Uint16Array(2 * (this.#length + by));
    units.set(this.#units);
    this.#units = units;
  }
}

const USUAL_GROWTH = 16;

export function unitsOf(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}
