import type { TextLane, TextPieces } from '../ir/text-lane.ts';
import type { ByteFlow } from '../kit/frames/flow.ts';
import type { FrameForm } from '../kit/frames/frame-form.ts';
import { SSE_TAIL, sseHead } from '../kit/frames/sse.ts';
import { endsWhole } from '../kit/text/ends-whole.ts';

/** Bytes of a chunk up to which it is what an upstream writes as it goes. */
const MOST_BYTES = 1024;

/** The texts of frames that are alike, out of the very chunks that an upstream sends, each of them whole frames. An end of a line is in none of the texts. */
export class LikeTexts implements TextLane {
  readonly pieces: TextPieces;
  readonly #chunks: ByteFlow;
  /** Of frames with all that is around them. */
  readonly #form: FrameForm;
  /** The chunk that is being read, and how far it was. */
  #wire = '';
  #at = 0;
  /** A chunk, or the rest of one, that was something else. */
  #other: Uint8Array | undefined;
  /** Characters that have passed and the decoder does not know of. */
  #passed = 0;
  /** Something was read another way: a frame may have begun that the next chunk goes on with. */
  #isLeft = false;

  constructor(pieces: TextPieces, chunks: ByteFlow) {
    this.pieces = pieces;
    this.#chunks = chunks;
    this.#form = pieces.form.within(sseHead(pieces.event), SSE_TAIL);
  }

  poll(): string | undefined {
    if (this.#isLeft || this.#other !== undefined) return undefined;
    if (this.#wire === '' && !this.#takeChunk()) return undefined;
    const wire = this.#wire;
    let end = wire.length;
    // Mostly there is one frame in a chunk.
    let text = this.#form.plainTextIn(wire, this.#at, end);
    if (text === undefined) {
      end = wire.indexOf(SSE_TAIL, this.#at) + SSE_TAIL.length;
      text = this.#form.plainTextIn(wire, this.#at, end);
    }
    if (text === undefined || text === '') {
      this.#other = Buffer.from(wire.slice(this.#at));
      this.#wire = '';
      return undefined;
    }
    this.#passed += text.length;
    this.#at = end;
    if (end === wire.length) this.#wire = '';
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

  /** Something is read another way: no text passes until `goOn`. Characters that have passed since then. */
  leave(): number {
    const passed = this.#passed;
    this.#passed = 0;
    this.#isLeft = true;
    return passed;
  }

  /** What was read another way was of the same form, and whole. */
  goOn(): void {
    this.#isLeft = false;
  }

  /** False: there is none, or none to be looked at here. Where a chunk ends in the middle of a character, it is not. */
  #takeChunk(): boolean {
    const text = this.#chunks.pollText?.(MOST_BYTES);
    if (text !== undefined) return this.#takeText(text);
    const chunk = this.#chunks.poll?.();
    if (chunk === undefined) return false;
    const isWhole = chunk.length <= MOST_BYTES && endsWhole(chunk);
    if (!isWhole || !(chunk instanceof Buffer)) {
      this.#other = chunk;
      return false;
    }
    return this.#takeText(chunk.toString('utf8'));
  }

  #takeText(text: string): true {
    this.#wire = text;
    this.#at = 0;
    return true;
  }
}
