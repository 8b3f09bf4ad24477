/**
 * Where things stand in the caller's body: `messages[2].content[1]`, `system[0]`, `tools[1].tools[0]`. Kept beside the
 * representation rather than in it, so that equal items stay equal wherever they stood.
 */
export class Places {
  readonly #paths = new WeakMap<object, string>();

  /** Remembers where an item, part or tool stood, and returns it. */
  put<T extends object>(thing: T, path: string): T {
    this.#paths.set(thing, path);
    return thing;
  }

  /** The path of a thing; undefined for what the caller did not write. */
  of(thing: object): string | undefined {
    return this.#paths.get(thing);
  }
}
