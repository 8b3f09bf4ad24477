import type { Event, EventBatch } from '../ir/events.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';
import { GrowingText } from '../kit/text/growing-text.ts';

/** Average of common text. */
const CHARACTERS_PER_TOKEN = 4;

/** Up to this average length each piece counts as one token, characters. */
const MAX_TOKEN_CHARACTERS = 8;

/** Lower bound of the average, for upper bounds of tokens. */
const MIN_CHARACTERS_PER_TOKEN = 3;

/**
 * Characters buffered between two counts: many times the speed of any model. If text arrives faster, only the sample is
 * counted and scaled, so that the buffer does not become a second copy of the answer.
 */
const SAMPLE_CHARACTERS = 8 * 1024;

/** Pieces that may follow the usage report within the same frame. */
const MAX_PIECES_AFTER_REPORT = 16;

/** Text that has arrived since the last count. */
class Tail {
  /** The first SAMPLE_CHARACTERS of the text. */
  readonly #sample = new GrowingText();
  #sampleLength = 0;
  #pieces = 0;
  #length = 0;

  add(text: string): void {
    if (this.#sampleLength < SAMPLE_CHARACTERS) {
      this.#sample.add(text);
      this.#sampleLength += text.length;
    }
    this.#pieces++;
    this.#length += text.length;
  }

  /** The text to count: all of it, or its beginning. */
  get sample(): string {
    return this.#sample.toString();
  }

  /** Scales the tokens of the sample up to the whole text. */
  scaled(tokens: number): number {
    return this.#length === this.#sampleLength
      ? tokens
      : Math.ceil((tokens * this.#length) / this.#sampleLength);
  }

  /** Lower bound of tokens: upstreams send at least one token per piece. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Estimate: short pieces are one token each, long ones several. */
  get tokens(): number {
    const isTokenwise = this.#length <= this.pieces * MAX_TOKEN_CHARACTERS;
    return isTokenwise ? this.pieces : Math.max(this.pieces, Math.ceil(this.#length / CHARACTERS_PER_TOKEN));
  }

  /** Upper bound, which is rarely exceeded. */
  get mostTokens(): number {
    return Math.max(this.#pieces, Math.ceil(this.#length / MIN_CHARACTERS_PER_TOKEN));
  }
}

/** Counts the tokens of a text. Pieces are joined first, because a word may be split over two. */
type Count = (text: string) => Promise<number>;

/** Meters an answer while it streams: exact up to the last `count`, estimated after it. */
export class Meter {
  #counted = 0;
  /** Text of the count in progress. */
  #counting: Tail | undefined;
  #tail = new Tail();
  #pieces = 0;
  #reported: Usage | undefined;
  /** The upstream has reported usage and no text has followed. */
  #isReported = false;
  #hasVectors = false;
  /** Pieces since the last usage report. */
  #laterPieces = 0;
  readonly #believe: (reported: Usage) => Usage | undefined;

  /** `believe`: returns reported usage, or undefined if it is implausible. */
  constructor(believe: (reported: Usage) => Usage | undefined = (reported) => reported) {
    this.#believe = believe;
  }

  push(batch: EventBatch): void {
    for (const event of batch) this.#take(event);
  }

  /** Pieces of text: a lower bound of tokens. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Tokens of the text so far, estimated. */
  get visibleTokens(): number {
    return this.#counted + (this.#counting?.tokens ?? 0) + this.#tail.tokens;
  }

  /** Tokens of the answer so far, estimated. */
  get outputTokens(): number {
    return Math.max(this.visibleTokens, this.#reported?.outputTokens ?? 0);
  }

  /** Upper bound of tokens since the last count. */
  get uncountedTokens(): number {
    return this.#tail.mostTokens;
  }

  /** True if reported usage covers all text so far. */
  get isReported(): boolean {
    return this.#isReported;
  }

  /** True if much text has followed the last report. Some upstreams report in the middle of the last frames. */
  get isOutdated(): boolean {
    return this.#reported !== undefined && this.#laterPieces > MAX_PIECES_AFTER_REPORT;
  }

  /** True if the upstream has reported the tokens of the prompt. */
  get knowsPrompt(): boolean {
    return this.#reported !== undefined;
  }

  /** Counts the text since the last count. One call at a time. */
  async count(count: Count): Promise<void> {
    const tail = this.#tail;
    this.#counting = tail;
    this.#tail = new Tail();
    const tokens = tail.scaled(await count(tail.sample));
    this.#counted += Math.max(tokens, tail.pieces);
    this.#counting = undefined;
  }

  /** Usage if the answer ended now. `promptTokens`: used if the upstream has not reported them. */
  usage(promptTokens: number): Usage {
    if (this.#isReported && this.#reported !== undefined) return this.#reported;
    const { inputTokens = promptTokens } = this.#reported ?? {};
    return {
      ...NO_USAGE,
      ...this.#reported,
      inputTokens,
      outputTokens: this.outputTokens,
      source: 'estimated',
    };
  }

  #addText(text: string): void {
    this.#tail.add(text);
    this.#pieces++;
    this.#laterPieces++;
    this.#isReported = false;
  }

  #report(usage: Usage | undefined): void {
    if (usage === undefined) return;
    this.#reported = usage;
    this.#laterPieces = 0;
    this.#isReported = (this.#pieces > 0 || this.#hasVectors) && usage.source === 'measured';
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'text-delta':
      case 'tool-input-delta':
        if (event.text === '') return;
        this.#addText(event.text);
        return;
      case 'vectors':
        this.#hasVectors = true;
        this.#isReported = false;
        return;
      case 'usage':
        this.#report(this.#believe(event.usage));
        return;
      case 'relay':
        for (const inner of event.events) this.#take(inner);
        return;
      default:
        return;
    }
  }
}
