/** The first `most` members in sort order of all that are added. Adding is cheap while `most` is small. */
export class Shortlist<T> {
  readonly #most: number;
  readonly #compare: (one: T, other: T) => number;
  readonly #members: T[] = [];

  constructor(most: number, compare: (one: T, other: T) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  get members(): readonly T[] {
    return this.#members;
  }

  admits(member: T): boolean {
    const last = this.#members.at(-1);
    if (this.#members.length < this.#most || last === undefined) return this.#most > 0;
    return this.#compare(member, last) < 0;
  }

  add(member: T): void {
    if (!this.admits(member)) return;
    this.#members.splice(this.#placeOf(member), 0, member);
    if (this.#members.length > this.#most) this.#members.pop();
  }

  #placeOf(member: T): number {
    let begin = 0;
    let end = this.#members.length;
    while (begin < end) {
      const middle = (begin + end) >>> 1;
      if (this.#compare(this.#members[middle] as T, member) <= 0) begin = middle + 1;
      else end = middle;
    }
    return begin;
  }
}
