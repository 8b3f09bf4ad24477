/** Lets a subclass add its private members to an existing object. */
class Given {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: what is returned here is `this` in the constructor of the subclass
    return value;
  }
}

/** Private to the object: a copy does not have it. */
class Keeper extends Given {
  #text: string;

  constructor(value: object, text: string) {
    super(value);
    this.#text = text;
  }

  static textOf(value: object): string | undefined {
    return #text in value ? (value as Keeper).#text : undefined;
  }
}

/**
 * The text of an object that does not change: made once, and kept with the object itself. A WeakMap would do, were it not
 * for the collector, which goes through all of its entries while everything else waits: with the texts of ten thousand
 * callers in it every full collection took 30 ms longer. An object has one such text.
 */
export function keptText<T extends object>(value: T, make: (value: T) => string): string {
  let text = Keeper.textOf(value);
  if (text === undefined) {
    text = inOnePlace(make(value));
    new Keeper(value, text);
  }
  return text;
}

/** V8 makes such a text of pieces, and joins them in old memory when it is looked at late. To ask for its length joins them now. */
function inOnePlace(text: string): string {
  Buffer.byteLength(text);
  return text;
}
