/** Open resources, each with a name for the log; closed when the gateway stops. */
export class Closers {
  readonly #open: { readonly what: string; close(): Promise<void> | void }[] = [];

  add<T extends { close(): Promise<void> | void }>(what: string, opened: T): T {
    this.#open.push({ what, close: () => opened.close() });
    return opened;
  }

  /** Closes the newest first. `closing` gets the name of each before it is closed. */
  async closeAll(closing?: (what: string) => void): Promise<void> {
    for (const { what, close } of this.#open.splice(0).reverse()) {
      closing?.(what);
      await close();
    }
  }
}
