import type { Source } from '../ir/items.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { addPrompt } from './add-parts.ts';
import { extraTokensOf } from './extra-tokens.ts';
import { has, isUpstreamContent } from './file-content.ts';
import { MEDIA_TOKENS, type PartCounter, TokenCollector, TypicalCounter } from './part-counter.ts';
import { type PixelSize, pixelSizeOf } from './pixel-size.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Average of common text. */
const CHARACTERS_PER_TOKEN = 4;

/** The prompt of a request; caches its measures, because several steps of a generation need them. */
export class Prompt {
  readonly #request: GenerationRequest;
  #measured: PromptMeasure | undefined;
  #extraTokens: number | undefined;

  constructor(request: GenerationRequest) {
    this.#request = request;
  }

  /** Characters, plus 1 for each token of media and overhead: cheap, and enough to see that no limit is near. */
  get characters(): number {
    return this.#measure().characters;
  }

  /** Images, files, recordings and videos of the prompt. */
  get media(): PromptMedia {
    return this.#measure();
  }

  get estimatedTokens(): number {
    return Math.ceil(this.characters / CHARACTERS_PER_TOKEN);
  }

  /** Upper bounds. */
  get worst(): WorstPrompt {
    return this.#measure();
  }

  /** Tokens that other tokenizers may count beyond 1.5 times our count. Examines each character. */
  get extraTokens(): number {
    this.#extraTokens ??= addPrompt(this.#request, new ExtraTokenCounter()).tokens;
    return this.#extraTokens;
  }

  #measure(): PromptMeasure {
    this.#measured ??= addPrompt(this.#request, new PromptMeasure());
    return this.#measured;
  }

  /** Tokens by our tokenizer. Rejects only with the reason of `signal`. */
  count(tokenizer: Tokenizer, signal?: AbortSignal): Promise<number> {
    return addPrompt(this.#request, new TokenCollector()).count(tokenizer, signal);
  }
}

export async function countPrompt(
  request: GenerationRequest,
  tokenizer: Tokenizer,
  signal?: AbortSignal,
): Promise<number> {
  return new Prompt(request).count(tokenizer, signal);
}

/** What only the upstream knows the tokens of. */
export interface PromptMedia {
  /** Size of each image; undefined = unknown. */
  readonly imageSizes: readonly (PixelSize | undefined)[];
  /** Files, recordings and videos. */
  readonly documents: number;
}

/** Shared by all prompts without images. */
const NO_IMAGES: readonly undefined[] = [];

function sizeOf(source: Source | undefined): PixelSize | undefined {
  return source?.kind === 'base64' ? pixelSizeOf(source.data) : undefined;
}

/** Upper bounds of a prompt. */
export interface WorstPrompt extends PromptMedia {
  /** UTF-8 bytes of all text: no tokenizer makes more tokens of it. */
  readonly bytes: number;
  /** Tokens of seals and unmodelled members, which our tokenizer does not see. */
  readonly unseenTokens: number;
}

/** Characters of a seal per token of its content. */
const SEAL_CHARACTERS = 4;

/** Everything that is known of a prompt without examining its characters. */
class PromptMeasure implements PartCounter, WorstPrompt {
  characters = 0;
  bytes = 0;
  unseenTokens = 0;
  imageSizes: readonly (PixelSize | undefined)[] = NO_IMAGES;
  documents = 0;

  addText(text: string): void {
    this.characters += text.length;
    this.bytes += Buffer.byteLength(text);
  }

  addJson(value: object): void {
    this.addText(JSON.stringify(value));
  }

  addTokens(tokens: number): void {
    this.characters += tokens;
    this.bytes += tokens;
  }

  addImage(source?: Source): void {
    this.characters += MEDIA_TOKENS;
    if (this.imageSizes === NO_IMAGES) this.imageSizes = [];
    (this.imageSizes as (PixelSize | undefined)[]).push(sizeOf(source));
  }

  addDocument(): void {
    this.characters += MEDIA_TOKENS;
    this.documents += 1;
  }

  addSeal(characters: number): void {
    this.#addUnseen(Math.ceil(characters / SEAL_CHARACTERS));
  }

  addUnmodelled(value: object): void {
    this.#addUnseen(Buffer.byteLength(JSON.stringify(value)));
    // Not in `characters`: most upstreams ignore what we do not model.
    if (has(value, isUpstreamContent)) this.documents += 1;
  }

  #addUnseen(tokens: number): void {
    this.unseenTokens += tokens;
    this.bytes += tokens;
  }
}

/** Longer texts are not examined, to keep the event loop free; each of their bytes counts as a token. */
const MAX_EXAMINED_CHARACTERS = 1_000_000;

class ExtraTokenCounter extends TypicalCounter {
  tokens = 0;

  addText(text: string): void {
    this.tokens += text.length > MAX_EXAMINED_CHARACTERS ? Buffer.byteLength(text) : extraTokensOf(text);
  }

  addJson(value: object): void {
    this.addText(JSON.stringify(value));
  }

  addTokens(): void {}
}
