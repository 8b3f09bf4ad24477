/** A value for each combination of labels. Labels are of closed sets: there are never many. */
export class LabelledValues<Label extends string, Value> {
  readonly #names: readonly Label[];
  readonly #make: () => Value;
  readonly #values = new Map<string, { readonly labels: Record<string, string>; readonly value: Value }>();

  constructor(names: readonly Label[], make: () => Value) {
    this.#names = names;
    this.#make = make;
  }

  of(labels: Readonly<Record<Label, string>>): Value {
    let key = '';
    for (const name of this.#names) key += `${labels[name]}\0`;
    const known = this.#values.get(key);
    if (known !== undefined) return known.value;
    const value = this.#make();
    const own = Object.fromEntries(this.#names.map((name) => [name, labels[name]]));
    this.#values.set(key, { labels: own, value });
    return value;
  }

  *[Symbol.iterator](): Iterator<readonly [Readonly<Record<string, string>>, Value]> {
    for (const { labels, value } of this.#values.values()) yield [labels, value];
  }
}
