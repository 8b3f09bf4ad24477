/** Whether the pages of a text were paid for: by one request, however many use the text. */
export class TextPayment {
  #paying: Promise<boolean> | undefined;

  /** Waits for a request that pays, and pays if that one cannot. Returns false if nothing was left to pay. */
  async once(pay: () => Promise<void>): Promise<boolean> {
    while (this.#paying !== undefined) if (await this.#paying) return false;
    const paying = pay();
    this.#paying = paying.then(
      () => true,
      () => {
        this.#paying = undefined;
        return false;
      },
    );
    await paying;
    return true;
  }
}
