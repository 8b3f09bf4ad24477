/** Text in lines, with runs of white space as one space, and no more breaks than text between them. */
export class TextGatherer {
  readonly #pieces: string[] = [];
  readonly #maxCharacters: number;
  #characters = 0;
  /** Separator before the next text: empty lines, then the mark of a list item, heading or cell. */
  #newlines = 0;
  #mark = '';

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get isFull(): boolean {
    return this.#characters >= this.#maxCharacters;
  }

  write(text: string, isPreformatted: boolean): void {
    if (this.isFull) return;
    const isBegin = this.#newlines > 0 || this.#mark !== '' || this.#pieces.length === 0;
    const spaced = isPreformatted ? text : text.replace(/\s+/g, ' ');
    const kept = isBegin && !isPreformatted ? spaced.trimStart() : spaced;
    if (kept === '') return;
    if (isBegin) this.#begin();
    const last = this.#pieces.at(-1) ?? '';
    this.#push(last.endsWith(' ') && kept.startsWith(' ') && !isPreformatted ? kept.slice(1) : kept);
  }

  break(newlines: number, mark: string): void {
    this.#newlines = Math.max(this.#newlines, newlines);
    // The mark of an element that had no text gives way to the next one, or to the end of its line.
    if (mark !== '' || (newlines > 0 && this.#mark === '\t')) this.#mark = mark;
  }

  #begin(): void {
    const last = this.#pieces.pop();
    if (last !== undefined) {
      this.#pieces.push(last.trimEnd());
      this.#push('\n'.repeat(this.#newlines));
    }
    this.#push(this.#mark);
    this.#newlines = 0;
    this.#mark = '';
  }

  #push(piece: string): void {
    this.#pieces.push(piece);
    this.#characters += piece.length;
  }

  text(): string {
    return this.#pieces.join('').trim();
  }
}
