import type { Socket } from 'node:net';

/** How long a connection stays open after its last response, milliseconds. */
export interface LingerLimits {
  /** If not all of the request was read. */
  readonly lingerMs: number;
  /** If the owner lets the connection drop the rest of the request (`beginDiscarding`). */
  readonly discardMs: number;
}

export interface LingerOwner {
  readonly limits: LingerLimits;
  /** Whether one more connection may drop the rest of a large request; if so, `endDiscarding` follows. */
  beginDiscarding(): boolean;
  endDiscarding(): void;
}

/** Bytes of a request that are dropped after its response. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/**
 * Bytes of a request that are dropped if too many connections discard: enough to notice that the caller has
 * closed its socket.
 */
const MAX_DISCARDED_BYTES_IF_CROWDED = 64 * 1024;

/**
 * The end of a connection whose last response was written before all of the request was read. Closing a socket with
 * unread bytes resets it, and many clients then report the reset and not the response. So what the caller still sends
 * is dropped, up to a number of bytes and for a limited time; then the socket is destroyed.
 */
export class LingeringClose {
  readonly #socket: Socket;
  readonly #owner: LingerOwner;
  /** The owner counts it among the connections that may discard up to `MAX_DISCARDED_BYTES`. */
  readonly #isDiscarding: boolean;
  /** Bytes that may still be dropped before the connection is no longer read. */
  #discardableBytes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, owner: LingerOwner) {
    const { discardMs, lingerMs } = owner.limits;
    this.#socket = socket;
    this.#owner = owner;
    this.#isDiscarding = owner.beginDiscarding();
    this.#discardableBytes = this.#isDiscarding ? MAX_DISCARDED_BYTES : MAX_DISCARDED_BYTES_IF_CROWDED;
    this.#destroyAfter(this.#isDiscarding ? discardMs : lingerMs);
  }

  /** Counts dropped bytes; at the limit stops reading, and closes soon. */
  discard(bytes: number): void {
    this.#discardableBytes -= bytes;
    if (this.#discardableBytes > 0) return;
    this.#socket.pause();
    this.#destroyAfter(this.#owner.limits.lingerMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#isDiscarding) this.#owner.endDiscarding();
  }

  #destroyAfter(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), milliseconds);
  }
}
