import type { Event, EventBatch } from '../ir/events.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';
import { GrowingText } from '../kit/text/growing-text.ts';

/** Characters of a token, about. */
const CHARACTERS_PER_TOKEN = 4;

/** Characters of pieces, on the average, up to which each is taken for one token. */
const LONGEST_TOKEN = 8;

/** Characters of a token where it is better to think too many than too few. */
const SHORT_TOKEN = 3;

/**
 * Characters that are kept to be counted: many times as many as an answer has that comes as fast as models write. Where
 * answers come faster than anybody counts, the rest would only wait, as a second copy of them.
 */
const SAMPLE_CHARACTERS = 8 * 1024;

/** Pieces of text that may be in one frame with what was used, and read after that. */
const PIECES_OF_A_FRAME = 16;

/** Text that came in and was not counted yet. */
class Tail {
  /** The beginning of it, and how long that is. */
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

  /** All of it, or enough to know what the rest is like. */
  get sample(): string {
    return this.#sample.toString();
  }

  /** Tokens of all of it where the sample has so many. */
  scaled(tokens: number): number {
    return this.#length === this.#sampleLength
      ? tokens
      : Math.ceil((tokens * this.#length) / this.#sampleLength);
  }

  /** Nobody sends less than a token at a time. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Tokens, about. Short pieces are tokens, long ones hold several. */
  get tokens(): number {
    const isTokenwise = this.#length <= this.pieces * LONGEST_TOKEN;
    return isTokenwise ? this.pieces : Math.max(this.pieces, Math.ceil(this.#length / CHARACTERS_PER_TOKEN));
  }

  /** Tokens at most, nearly always. */
  get mostTokens(): number {
    return Math.max(this.#pieces, Math.ceil(this.#length / SHORT_TOKEN));
  }
}

/** Counts tokens of a text. In one piece: a word that came in two is not two. */
type Count = (text: string) => Promise<number>;

/** Counts an answer while it passes: exactly up to where it was asked to, about from there on. */
export class Meter {
  /** Tokens of what was counted. */
  #counted = 0;
  /** What is being counted. */
  #counting: Tail | undefined;
  #tail = new Tail();
  #pieces = 0;
  #reported: Usage | undefined;
  /** The upstream has said what it used, and nothing came after that. */
  #isReported = false;
  /** Pieces that came after the upstream said what it used. */
  #laterPieces = 0;
  readonly #believe: (reported: Usage) => Usage | undefined;

  /** `believe`: what an upstream reports, unless it cannot be true. */
  constructor(believe: (reported: Usage) => Usage | undefined = (reported) => reported) {
    this.#believe = believe;
  }

  push(batch: EventBatch): void {
    for (const event of batch) this.#take(event);
  }

  /** Pieces that the answer came in: there are at least as many tokens. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Tokens of the answer so far, about. */
  get outputTokens(): number {
    const metered = this.#counted + (this.#counting?.tokens ?? 0) + this.#tail.tokens;
    return Math.max(metered, this.#reported?.outputTokens ?? 0);
  }

  /** Tokens that were not counted yet, at most. */
  get uncountedTokens(): number {
    return this.#tail.mostTokens;
  }

  /** Whether the upstream has said what all of this is. */
  get isReported(): boolean {
    return this.#isReported;
  }

  /** Whether much has come since the upstream said what it used. Some say so in the middle of the last frames. */
  get isOutdated(): boolean {
    return this.#reported !== undefined && this.#laterPieces > PIECES_OF_A_FRAME;
  }

  /** Whether the upstream has said what the prompt is. */
  get knowsPrompt(): boolean {
    return this.#reported !== undefined;
  }

  /** Counts what has come in by now. One at a time. */
  async count(count: Count): Promise<void> {
    const tail = this.#tail;
    this.#counting = tail;
    this.#tail = new Tail();
    const tokens = tail.scaled(await count(tail.sample));
    this.#counted += Math.max(tokens, tail.pieces);
    this.#counting = undefined;
  }

  /** Usage if the answer ended here. `promptTokens`: of a prompt that the upstream has not counted. */
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
    this.#isReported = this.#pieces > 0 && usage.source === 'measured';
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'text-delta':
      case 'tool-input-delta':
        if (event.text === '') return;
        this.#addText(event.text);
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
