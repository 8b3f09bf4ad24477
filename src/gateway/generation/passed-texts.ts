import type { Event } from '../../ir/events.ts';
import type { TextLane, TextPieces } from '../../ir/text-lane.ts';
import { mostTokensOf } from '../../tokens/meter.ts';

/** Pieces of text that pass and are told of together: when somebody asks, when there are enough, or when something else comes. */
export class PassedTexts implements TextLane {
  readonly pieces: TextPieces;
  readonly #source: TextLane;
  readonly #tell: () => void;
  #texts: string[] = [];
  #length = 0;
  /** Tokens that need not be told of yet. The first piece is told at once: others wait for news. */
  room = 1;

  constructor(source: TextLane, tell: () => void) {
    this.pieces = source.pieces;
    this.#source = source;
    this.#tell = tell;
  }

  poll(): string | undefined {
    const text = this.#source.poll();
    if (text === undefined) return undefined;
    this.#texts.push(text);
    this.#length += text.length;
    if (mostTokensOf(this.#texts.length, this.#length) >= this.room) this.#tell();
    return text;
  }

  /** What was not told yet, as one event. */
  take(): Event | undefined {
    const texts = this.#texts;
    if (texts.length === 0) return undefined;
    this.#texts = [];
    this.#length = 0;
    const { item, part } = this.pieces;
    return { type: 'text-delta', item, part, kind: 'text', text: texts.join(''), pieces: texts.length };
  }
}
