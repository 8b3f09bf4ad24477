export interface ResponseConnection {
  /** The socket buffers more than it should: the caller reads slowly. */
  readonly needsDrain: boolean;
  /** Whether this response may be written: those to earlier requests are. */
  isTurnOf(response: OutboundResponse): boolean;
  /** False: nothing should follow before the socket has drained. */
  write(data: string | Uint8Array, encoding: BufferEncoding): boolean;
  /** Writes until `uncork` leave together. */
  cork(): void;
  uncork(): void;
  /** The response whose turn it is was written to its end. */
  finish(response: OutboundResponse): void;
  /**
   * Like `finish`, if part of the request was not read: the connection closes once the caller can have read
   * the response.
   */
  finishAndLinger(response: OutboundResponse): void;
  destroy(): void;
}

/** Writes something that the reader of a stream ignores: the write fails if the caller has closed its socket. */
export interface Heartbeat {
  beat(): void;
}

interface Piece {
  readonly data: string | Uint8Array;
  readonly encoding: BufferEncoding;
}

/** Characters or bytes that are held until a response's turn; above that its writer has to wait. */
const MAX_HELD_SIZE = 16_384;

/** One response on a connection: written in its turn, with back-pressure for its writer. */
export class OutboundResponse {
  keepsAlive: boolean;
  /** Called once, when all of the response was passed to the kernel or the connection is closed. */
  whenClosed: ((isFlushed: boolean) => void) | undefined;
  /** Set while the response is a stream that has begun. */
  heartbeat: Heartbeat | undefined;
  /** Its head is written: no other response can take its place. */
  hasBegun = false;
  readonly #connection: ResponseConnection;
  #isEnded = false;
  #lingers = false;
  #isFlushed = false;
  #isClosed = false;
  #held: Piece[] | undefined;
  #heldSize = 0;
  #whenWritable: (() => void) | undefined;
  #whenFlushed: (() => void) | undefined;

  constructor(connection: ResponseConnection, keepsAlive: boolean) {
    this.#connection = connection;
    this.keepsAlive = keepsAlive;
  }

  /** `end` was called, though not all of it may be flushed yet. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** All of it was passed to the kernel. */
  get isFlushed(): boolean {
    return this.#isFlushed;
  }

  /**
   * The connection was closed before all of it was flushed. Not true before `whenClosed` is called: a writer that saw
   * it sooner would end its work before the reason is known.
   */
  get isGone(): boolean {
    return this.#isClosed && !this.#isFlushed;
  }

  /** Its writer should wait: for the caller to read, or for the response's turn. */
  get isBlocked(): boolean {
    return this.#connection.isTurnOf(this) ? this.#connection.needsDrain : this.#heldSize > MAX_HELD_SIZE;
  }

  /** False: nothing should follow before `onceWritable` calls back. */
  write(data: string | Uint8Array, encoding: BufferEncoding): boolean {
    if (this.#connection.isTurnOf(this)) return this.#connection.write(data, encoding);
    this.#held ??= [];
    this.#held.push({ data, encoding });
    this.#heldSize += data.length;
    return this.#heldSize <= MAX_HELD_SIZE;
  }

  writeBoth(head: string, bytes: Uint8Array): boolean {
    this.#connection.cork();
    this.write(head, 'latin1');
    const isWritable = this.write(bytes, 'latin1');
    this.#connection.uncork();
    return isWritable;
  }

  end(): void {
    this.#isEnded = true;
    if (this.#connection.isTurnOf(this)) this.#finish();
  }

  /** Ends it and closes the connection, of which part of the request was not read. */
  endLingering(): void {
    this.keepsAlive = false;
    this.#lingers = true;
    this.end();
  }

  /** Calls back once, when it is no longer blocked or the connection is closed. One wait at a time. */
  onceWritable(callback: (() => void) | undefined): void {
    this.#whenWritable = callback;
  }

  /** Calls back once, when all of it is flushed or the connection is closed. One wait at a time. */
  onceFlushed(callback: () => void): void {
    this.#whenFlushed = callback;
  }

  destroy(): void {
    this.#connection.destroy();
  }

  /** Called by the connection: the responses before this one are written. */
  takeTurn(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#heldSize = 0;
    let isWritable = true;
    for (const { data, encoding } of held ?? []) isWritable = this.#connection.write(data, encoding);
    if (this.#isEnded) this.#finish();
    else if (isWritable) this.becomeWritable();
  }

  /** Called by the connection: the socket has drained. */
  becomeWritable(): void {
    const callback = this.#whenWritable;
    this.#whenWritable = undefined;
    callback?.();
  }

  /** Called by the connection: all of it is flushed, or the connection is closed. */
  close(isFlushed: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isFlushed = isFlushed;
    this.#held = undefined;
    this.becomeWritable();
    this.#whenFlushed?.();
    this.whenClosed?.(isFlushed);
  }

  #finish(): void {
    if (this.#lingers) this.#connection.finishAndLinger(this);
    else this.#connection.finish(this);
  }
}
