import type { ContentSink } from '../body-decoder.ts';
import type { RequestFraming } from './request-framing.ts';
import type { RequestHead } from './request-head.ts';

export interface BodyReader {
  /** Returning false pauses the body until `resumeReading`. */
  piece(bytes: Buffer): boolean;
  end(): void;
  /** The connection was closed before the end. */
  cut(): void;
}

export interface BodySource {
  resumeReading(): void;
  /** Address of the other end; undefined once it is gone. */
  readonly peerAddress?: string | undefined;
}

/** Bytes of a body that are buffered without a reader; then the connection is paused. */
const MAX_KEPT_BYTES = 64 * 1024;
/** Overhead of a buffered piece: a body in tiny chunks must not cost many times its size. */
const PIECE_OVERHEAD_BYTES = 128;

const NO_VALUES: readonly string[] = [];

/** One request, whose body may still be on its way. */
export class InboundRequest implements ContentSink {
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly framing: RequestFraming;
  readonly #source: BodySource;
  #isComplete = false;
  #isCut = false;
  #isDiscarded = false;
  #isPaused = false;
  #reader: BodyReader | undefined;
  #kept: Buffer[] | undefined;
  #keptBytes = 0;

  constructor(head: RequestHead, framing: RequestFraming, source: BodySource) {
    this.method = head.method;
    this.url = head.target;
    this.httpVersion = head.version;
    this.rawHeaders = head.rawHeaders;
    this.framing = framing;
    this.#source = source;
  }

  /** Address of the other end of the connection, which may be a proxy; empty once it is gone. */
  get peerAddress(): string {
    return this.#source.peerAddress ?? '';
  }

  /** All of the body has come from the connection, whether it was read or not. */
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

  /** All values of a header, in order; `name` in lower case. */
  headerValues(name: string): readonly string[] {
    const { rawHeaders } = this;
    let values = NO_VALUES;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const written = rawHeaders[index] as string;
      if (written.length !== name.length || written.toLowerCase() !== name) continue;
      const value = rawHeaders[index + 1] as string;
      // Nearly always there is one: `push` would allocate room for many.
      values = values.length === 0 ? [value] : [...values, value];
    }
    return values;
  }

  get hasBody(): boolean {
    return this.framing.isChunked || this.framing.length > 0;
  }

  /** The whole body, once, if all of it is buffered: so it is with small bodies that came with their heads. */
  takeBody(): Buffer | undefined {
    const kept = this.#kept;
    if (!this.#isComplete || kept === undefined || this.#keptBytes > MAX_KEPT_BYTES) return undefined;
    this.#kept = undefined;
    return kept.length === 1 ? kept[0] : Buffer.concat(kept, this.#keptBytes);
  }

  /** Passes the body to a reader, first what is buffered. One reader at a time. */
  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#isPaused = false;
    this.#flow();
  }

  resumeReading(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow();
  }

  stopReading(): void {
    this.#reader = undefined;
  }

  discard(): void {
    this.#reader = undefined;
    this.#kept = undefined;
    this.#isDiscarded = true;
    if (!this.#isComplete) this.#source.resumeReading();
  }

  get wantsMore(): boolean {
    if (this.#isDiscarded) return true;
    if (this.#reader !== undefined) return !this.#isPaused;
    return this.#keptBytes + PIECE_OVERHEAD_BYTES * (this.#kept?.length ?? 0) < MAX_KEPT_BYTES;
  }

  /** Called by the body decoder. */
  onContent(bytes: Buffer, from: number, to: number): void {
    this.push(bytes.subarray(from, to));
  }

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

  /** Called by the connection: all of the body has come. */
  complete(): void {
    this.#isComplete = true;
    if (!this.#isPaused) this.#end();
  }

  /** Called by the connection if it is closed, or its caller has ended it, before the end of the body. */
  cut(): void {
    if (this.#isComplete || this.#isCut) return;
    this.#isCut = true;
    this.#reader?.cut();
  }

  #flow(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    this.#keptBytes = 0;
    // Buffers again what comes after the reader has paused.
    for (const piece of kept) this.push(piece);
    if (this.#isPaused) return;
    if (this.#isComplete) this.#end();
    else if (this.#isCut) this.#reader?.cut();
    else this.#source.resumeReading();
  }

  #end(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.end();
  }
}
