/** What must be closed when the gateway stops, each with a name for the log. */
export class Closers {
  readonly #open: { readonly what: string; close(): Promise<void> | void }[] = [];

  push(what: string, close: () => Promise<void> | void): void {
    this.#open.push({ what, close });
  }

  /** Closes the newest first. `closing` gets the name of each before it is closed. */
  async closeAll(closing?: (what: string) => void): Promise<void> {
    for (const { what, close } of this.#open.splice(0).reverse()) {
      closing?.(what);
      await close();
    }
  }
}
