import type { ContentSink } from '../body-decoder.ts';
import type { Framing } from './request-framing.ts';
import type { RequestHead } from './request-head.ts';

/** Takes the content of a body as it comes. */
export interface BodyReader {
  /** False: no more before `readOn`. */
  piece(bytes: Buffer): boolean;
  end(): void;
  /** The connection was closed before the end. */
  cut(): void;
}

/** Where the bytes of a body come from. */
export interface BodySource {
  /** More of the body is wanted. */
  readOn(): void;
}

/** Bytes of a body that are buffered without a reader; then the connection is paused. */
const MAX_KEPT_BYTES = 64 * 1024;
/** Overhead of a buffered piece: a body in tiny chunks must not cost many times its size. */
const PIECE_OVERHEAD_BYTES = 128;

/** One request, whose body may still be on its way. */
export class InboundRequest implements ContentSink {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly framing: Framing;
  readonly #source: BodySource;
  #isComplete = false;
  #isCut = false;
  #isDiscarded = false;
  #isPaused = false;
  #reader: BodyReader | undefined;
  #kept: Buffer[] | undefined;
  #keptBytes = 0;

  constructor(head: RequestHead, framing: Framing, source: BodySource) {
    this.method = head.method;
    this.url = head.target;
    this.httpVersion = head.version;
    this.rawHeaders = head.rawHeaders;
    this.framing = framing;
    this.#source = source;
  }

  /** All of the body has come, read or not. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The first value of a header; `name` in lower case. */
  header(name: string): string | undefined {
    const { rawHeaders } = this;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const written = rawHeaders[index] as string;
      if (written.length === name.length && written.toLowerCase() === name) return rawHeaders[index + 1];
    }
    return undefined;
  }

  /**
   * The body, where all of it is here already, as small ones are that came with their heads. Undefined where it is
   * still to come, or was too large to be kept.
   */
  takeBody(): Buffer | undefined {
    const kept = this.#kept;
    if (!this.#isComplete || kept === undefined || this.#keptBytes > MAX_KEPT_BYTES) return undefined;
    this.#kept = undefined;
    return kept.length === 1 ? kept[0] : Buffer.concat(kept, this.#keptBytes);
  }

  /** Gives the body to a reader, at once as far as it is here. One reader at a time. */
  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#isPaused = false;
    this.#flow();
  }

  /** The reader takes pieces again. */
  readOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow();
  }

  /** The reader has enough. */
  leave(): void {
    this.#reader = undefined;
  }

  /** Drops the rest of the body as it comes. */
  discard(): void {
    this.#reader = undefined;
    this.#kept = undefined;
    this.#isDiscarded = true;
    if (!this.#isComplete) this.#source.readOn();
  }

  /** Whether more of the body should be read from the connection. */
  get wantsMore(): boolean {
    if (this.#isDiscarded) return true;
    if (this.#reader !== undefined) return !this.#isPaused;
    return this.#keptBytes + PIECE_OVERHEAD_BYTES * (this.#kept?.length ?? 0) < MAX_KEPT_BYTES;
  }

  /** For the body frame. */
  onContent(bytes: Buffer, from: number, to: number): void {
    this.push(bytes.subarray(from, to));
  }

  /** A piece of the content has come. */
  push(piece: Buffer): void {
    if (this.#isDiscarded) return;
    if (this.#reader !== undefined && !this.#isPaused) {
      this.#isPaused = !this.#reader.piece(piece);
      return;
    }
    this.#kept ??= [];
    this.#kept.push(piece);
    this.#keptBytes += piece.length;
  }

  /** For the connection: that was all of it. */
  complete(): void {
    this.#isComplete = true;
    if (!this.#isPaused) this.#end();
  }

  /** For the connection: the rest will not come. */
  cut(): void {
    if (this.#isComplete || this.#isCut) return;
    this.#isCut = true;
    this.#reader?.cut();
  }

  #flow(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    this.#keptBytes = 0;
    // What the reader does not take is kept again.
    for (const piece of kept) this.push(piece);
    if (this.#isPaused) return;
    if (this.#isComplete) this.#end();
    else if (this.#isCut) this.#reader?.cut();
    else this.#source.readOn();
  }

  #end(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.end();
  }
}
