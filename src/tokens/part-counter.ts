import type { Source } from '../ir/items.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Estimate for an image, file or recording of unknown size: about one picture of common resolution. */
export const MEDIA_TOKENS = 765;

/** Visitor of all countable parts of a prompt or answer. */
export interface PartCounter {
  addText(text: string): void;
  addJson(value: object): void;
  addTokens(tokens: number): void;
  addImage(source?: Source): void;
  /** A file, recording or video, or a reference to one. */
  addDocument(): void;
  /** A seal, by its length: some upstreams count its content. */
  addSeal(characters: number): void;
  /** Members outside our model, which an upstream may read. */
  addUnmodelled(value: object): void;
}

/** Typical count: an image or file is one picture; seals and unmodelled members are nothing. */
export abstract class TypicalCounter implements PartCounter {
  abstract addText(text: string): void;
  abstract addJson(value: object): void;
  abstract addTokens(tokens: number): void;

  addImage(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addDocument(): void {
    this.addTokens(MEDIA_TOKENS);
  }

  addSeal(): void {}

  addUnmodelled(): void {}
}

/** Collects texts for the tokenizer, and tokens that are known without it. */
export class TokenCollector extends TypicalCounter {
  readonly #texts: string[] = [];
  #tokens = 0;

  addText(text: string): void {
    if (text !== '') this.#texts.push(text);
  }

  addJson(value: object): void {
    this.#texts.push(JSON.stringify(value));
  }

  addTokens(tokens: number): void {
    this.#tokens += tokens;
  }

  async count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    if (this.#texts.length === 0) return this.#tokens;
    return this.#tokens + (await tokenizer.count(this.#texts, signal));
  }
}
