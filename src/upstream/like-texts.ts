import type { TextLane, TextPieces } from '../ir/text-lane.ts';
import type { Flow } from '../kit/flow.ts';
import { SSE_TAIL, sseHead } from '../kit/sse.ts';

/** Bytes of a frame up to which it is looked at as one. */
const MOST_BYTES = 1024;

/** The texts of frames that are alike, out of the very chunks that an upstream sends: each of them one frame. */
export class LikeTexts implements TextLane {
  readonly pieces: TextPieces;
  readonly #chunks: Flow<Uint8Array>;
  readonly #head: string;
  /** A chunk that was something else. */
  #other: Uint8Array | undefined;
  /** Characters that have passed and the decoder does not know of. */
  #passed = 0;

  constructor(pieces: TextPieces, chunks: Flow<Uint8Array>) {
    this.pieces = pieces;
    this.#chunks = chunks;
    this.#head = sseHead(pieces.event);
  }

  poll(): string | undefined {
    if (this.#other !== undefined) return undefined;
    const chunk = this.#chunks.poll?.();
    if (chunk === undefined) return undefined;
    const text = this.#textIn(chunk);
    if (text === undefined) this.#other = chunk;
    else this.#passed += text.length;
    return text;
  }

  /** A chunk has been taken that was something else. */
  get isOver(): boolean {
    return this.#other !== undefined;
  }

  /** The chunk that was something else. */
  takeOther(): Uint8Array | undefined {
    const other = this.#other;
    this.#other = undefined;
    return other;
  }

  takePassed(): number {
    const passed = this.#passed;
    this.#passed = 0;
    return passed;
  }

  /** What a reader of the whole stream would find: the chunk is one event, and its text holds no end of a line. */
  #textIn(chunk: Uint8Array): string | undefined {
    if (chunk.length > MOST_BYTES || !(chunk instanceof Buffer)) return undefined;
    const wire = chunk.toString('utf8');
    const head = this.#head;
    const end = wire.length - SSE_TAIL.length;
    if (end < head.length || wire.slice(0, head.length) !== head || wire.slice(end) !== SSE_TAIL)
      return undefined;
    const text = this.pieces.form.plainTextIn(wire, head.length, end);
    return text === '' ? undefined : text;
  }
}
