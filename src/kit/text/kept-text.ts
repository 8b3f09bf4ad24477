/** Lets a subclass add its private members to an existing object. */
class Given {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: it becomes `this` in the constructor of the subclass
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
 * The text of an immutable object, made once and kept in a private member of the object. Not a WeakMap: the garbage
 * collector visits all its entries in one pause, and with the texts of ten thousand callers every full collection took
 * 30 ms longer. An object can have one such text.
 */
export function keptText<T extends object>(value: T, make: (value: T) => string): string {
  let text = Keeper.textOf(value);
  if (text === undefined) {
    text = flattened(make(value));
    new Keeper(value, text);
  }
  return text;
}

/** Keeps the text that an object was read from, as its text. It must have none yet. */
export function keepText(value: object, text: string): void {
  new Keeper(value, text);
}

/** The kept text of an object; without one it is made, and not kept. */
export function textOf<T extends object>(value: T, make: (value: T) => string): string {
  return Keeper.textOf(value) ?? make(value);
}

/** Flattens a concatenated string now, by asking for its length. V8 would do it at a later read, in old memory. */
function flattened(text: string): string {
  Buffer.byteLength(text);
  return text;
}
