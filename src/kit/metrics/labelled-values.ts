/** A value for each combination of labels. Labels have closed sets of values, so there are never many. */
export class LabelledValues<Label extends string, Value> {
  readonly #names: readonly Label[];
  readonly #make: () => Value;
  /** A tree by the value of the first label, then of the second, and so on: a look-up allocates nothing. */
  readonly #root = new Branch<Value>();
  readonly #all: (readonly [Readonly<Record<string, string>>, Value])[] = [];

  constructor(names: readonly Label[], make: () => Value) {
    this.#names = names;
    this.#make = make;
  }

  of(labels: Readonly<Record<Label, string>>): Value {
    let branch = this.#root;
    for (const name of this.#names) branch = branch.at(labels[name]);
    branch.value ??= this.#add(labels);
    return branch.value;
  }

  [Symbol.iterator](): Iterator<readonly [Readonly<Record<string, string>>, Value]> {
    return this.#all.values();
  }

  #add(labels: Readonly<Record<Label, string>>): Value {
    const value = this.#make();
    this.#all.push([Object.fromEntries(this.#names.map((name) => [name, labels[name]])), value]);
    return value;
  }
}

class Branch<Value> {
  value: Value | undefined;
  readonly #branches = new Map<string, Branch<Value>>();

  at(label: string): Branch<Value> {
    const known = this.#branches.get(label);
    if (known !== undefined) return known;
    const made = new Branch<Value>();
    this.#branches.set(label, made);
    return made;
  }
}
