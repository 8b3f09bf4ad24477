import type { Event, EventBatch } from '../ir/events.ts';
import { NO_USAGE, type Usage } from '../ir/usage.ts';

/** Characters of a token, about. */
const CHARACTERS_PER_TOKEN = 4;

/** Characters of pieces, on the average, up to which each is taken for one token. */
const LONGEST_TOKEN = 8;

/** Counts an answer while it passes, cheaply: near enough to know how far it has come. */
export class Meter {
  #characters = 0;
  #pieces = 0;
  #reported: Usage | undefined;
  /** The upstream has said what it used, and nothing came after that. */
  #isCounted = false;

  push(batch: EventBatch): void {
    for (const event of batch) this.#take(event);
  }

  /** Pieces that the answer came in. Nobody sends less than a token at a time, so there are at least as many of those. */
  get pieces(): number {
    return this.#pieces;
  }

  /** Tokens of the answer so far, about. Short pieces are tokens, long ones hold several. */
  get outputTokens(): number {
    const isTokenwise = this.#characters <= this.#pieces * LONGEST_TOKEN;
    const counted = isTokenwise ? this.#pieces : Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
    return Math.max(counted, this.#pieces, this.#reported?.outputTokens ?? 0);
  }

  /** Whether the upstream has said what all of this is. */
  get isCounted(): boolean {
    return this.#isCounted;
  }

  /** Usage if the answer ended here. `promptTokens`: of a prompt that the upstream has not counted. */
  usage(promptTokens: number): Usage {
    if (this.#isCounted && this.#reported !== undefined) return this.#reported;
    const { inputTokens = promptTokens } = this.#reported ?? {};
    return {
      ...NO_USAGE,
      ...this.#reported,
      inputTokens,
      outputTokens: this.outputTokens,
      source: 'estimated',
    };
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'text-delta':
      case 'tool-input-delta':
        if (event.text === '') return;
        this.#characters += event.text.length;
        this.#pieces += 1;
        this.#isCounted = false;
        return;
      case 'usage':
        this.#reported = event.usage;
        this.#isCounted = this.#pieces > 0 && event.usage.outputTokens > 0;
        return;
      case 'relay':
        for (const inner of event.events) this.#take(inner);
        return;
      default:
        return;
    }
  }
}
