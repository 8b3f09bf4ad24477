import type { OutboundResponse } from './outbound-response.ts';

/** The responses of a connection that are not flushed yet, in the order of their requests. */
export class ResponseQueue {
  readonly #responses: OutboundResponse[] = [];
  /** How many of them are written to their ends. */
  #written = 0;
  #current: OutboundResponse | undefined;

  get length(): number {
    return this.#responses.length;
  }

  get current(): OutboundResponse | undefined {
    return this.#current;
  }

  get hasBegun(): boolean {
    return this.#responses.some(({ hasBegun }) => hasBegun);
  }

  /** The head of a response is written, and its end is not. */
  get isWithinResponse(): boolean {
    return this.#responses.some(({ hasBegun, isEnded }) => hasBegun && !isEnded);
  }

  push(response: OutboundResponse): void {
    this.#responses.push(response);
    this.#current ??= response;
  }

  /** The current response is written to its end. Returns the one after it, unless the connection closes now. */
  advance(keepsAlive: boolean): OutboundResponse | undefined {
    this.#written++;
    this.#current = keepsAlive ? this.#responses[this.#written] : undefined;
    return this.#current;
  }

  shiftFlushed(): void {
    this.#written--;
    this.#responses.shift()?.close(true);
  }

  /** The last response that is not written to its end, other than `except`. */
  lastUnwritten(except: OutboundResponse | undefined): OutboundResponse | undefined {
    return this.#responses.slice(this.#written).findLast((response) => response !== except);
  }

  close(): void {
    for (const response of this.#responses.splice(0)) response.close(false);
  }
}
