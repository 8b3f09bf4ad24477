/** What an answer needs of the connection that it is written on. */
export interface AnswerLine {
  /** Writes wait for the reader. */
  readonly needsDrain: boolean;
  /** Whether it is the turn of this answer: those of earlier requests go first. */
  isTurnOf(answer: Outgoing): boolean;
  /** False: the reader is behind. */
  write(data: string | Uint8Array, encoding: BufferEncoding): boolean;
  /** What is written until `uncork` leaves together. */
  cork(): void;
  uncork(): void;
  /** The answer whose turn it is was written to its end. */
  passOn(answer: Outgoing): void;
  /**
   * The same, where part of the request was not read: the connection closes, but not before the answer can be read.
   */
  linger(answer: Outgoing): void;
  destroy(): void;
}

/** Writes what the reader of a stream ignores, which shows whether there is one. */
export interface Heartbeat {
  beat(): void;
}

interface Piece {
  readonly data: string | Uint8Array;
  readonly encoding: BufferEncoding;
}

/** Characters or bytes of an answer that wait for its turn before writes to it have to wait. */
const MOST_HELD = 16_384;

/** One response on a connection: written in its turn, with back-pressure for its writer. */
export class Outgoing {
  /** The connection may be used for another request after this answer. */
  keepsAlive: boolean;
  /** Told once, when all of the answer was handed over or the connection is closed. */
  whenClosed: ((hasLeft: boolean) => void) | undefined;
  /** Set while the answer is a stream that has begun. */
  heartbeat: Heartbeat | undefined;
  /** Its head is made: no other answer can take its place. */
  hasBegun = false;
  readonly #line: AnswerLine;
  #isEnded = false;
  #lingers = false;
  #hasLeft = false;
  #isClosed = false;
  #held: Piece[] | undefined;
  #heldSize = 0;
  #whenWritable: (() => void) | undefined;
  #whenFlushed: (() => void) | undefined;

  constructor(line: AnswerLine, keepsAlive: boolean) {
    this.#line = line;
    this.keepsAlive = keepsAlive;
  }

  /** Everything was written, though not all of it may have left yet. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** All of it was handed over. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /**
   * The connection was closed before all of it had left, and `whenClosed` was told so: a writer that knew it sooner
   * would end its work before the reason is known.
   */
  get isGone(): boolean {
    return this.#isClosed && !this.#hasLeft;
  }

  /** Writes wait for the reader, or for their turn. */
  get isBlocked(): boolean {
    return this.#line.isTurnOf(this) ? this.#line.needsDrain : this.#heldSize > MOST_HELD;
  }

  /** False: nothing should follow before `drained`. */
  write(data: string | Uint8Array, encoding: BufferEncoding): boolean {
    if (this.#line.isTurnOf(this)) return this.#line.write(data, encoding);
    this.#held ??= [];
    this.#held.push({ data, encoding });
    this.#heldSize += data.length;
    return this.#heldSize <= MOST_HELD;
  }

  /** Writes a head and bytes as one. */
  writeBoth(head: string, bytes: Uint8Array): boolean {
    this.#line.cork();
    this.write(head, 'latin1');
    const isWritable = this.write(bytes, 'latin1');
    this.#line.uncork();
    return isWritable;
  }

  /** There is no more of it. */
  end(): void {
    this.#isEnded = true;
    if (this.#line.isTurnOf(this)) this.#finish();
  }

  /** The same, where part of the request was not read. */
  endLingering(): void {
    this.keepsAlive = false;
    this.#lingers = true;
    this.end();
  }

  /** Calls back once when the reader has caught up or is gone. One wait at a time. */
  onceWritable(callback: (() => void) | undefined): void {
    this.#whenWritable = callback;
  }

  /** Calls back once when all of it has left or the connection is closed. One wait at a time. */
  onceFlushed(callback: () => void): void {
    this.#whenFlushed = callback;
  }

  destroy(): void {
    this.#line.destroy();
  }

  /** For the connection: the answers before this one are written. */
  takeTurn(): void {
    const held = this.#held;
    this.#held = undefined;
    this.#heldSize = 0;
    let isWritable = true;
    for (const { data, encoding } of held ?? []) isWritable = this.#line.write(data, encoding);
    if (this.#isEnded) this.#finish();
    else if (isWritable) this.becomeWritable();
  }

  /** For the connection: the reader has caught up. */
  becomeWritable(): void {
    const callback = this.#whenWritable;
    this.#whenWritable = undefined;
    callback?.();
  }

  /** For the connection: all of it was handed over, or the connection is closed. */
  close(hasLeft: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hasLeft = hasLeft;
    this.#held = undefined;
    this.becomeWritable();
    this.#whenFlushed?.();
    this.whenClosed?.(hasLeft);
  }

  #finish(): void {
    if (this.#lingers) this.#line.linger(this);
    else this.#line.passOn(this);
  }
}
