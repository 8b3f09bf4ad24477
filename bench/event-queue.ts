/** Something that happens at a time. */
interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

/** What is going to happen, earliest first: a binary heap. */
export class EventQueue {
  readonly #heap: Event[] = [];

  add(atMs: number, run: () => void): void {
    let place = this.#heap.push({ atMs, run }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#heap[parent]!.atMs <= this.#heap[place]!.atMs) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** Takes the earliest out; undefined when nothing is left. */
  next(): Event | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first;
    this.#heap[0] = last;
    this.#sink();
    return first;
  }

  #sink(): void {
    let place = 0;
    for (;;) {
      let least = place;
      for (const child of [2 * place + 1, 2 * place + 2]) {
        if (child < this.#heap.length && this.#heap[child]!.atMs < this.#heap[least]!.atMs) least = child;
      }
      if (least === place) return;
      this.#swap(place, least);
      place = least;
    }
  }

  #swap(one: number, other: number): void {
    [this.#heap[one], this.#heap[other]] = [this.#heap[other]!, this.#heap[one]!];
  }
}
