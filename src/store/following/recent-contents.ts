import type { GenerationContent, StoredContent } from '../../ports/content/content.ts';

/** Followers that keep up read all of their contents here. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
const MAX_AGE_MS = 10_000;

interface Recent {
  /** On the monotonic clock. */
  readonly addedAt: number;
  readonly content: GenerationContent;
  readonly characters: number;
}

/** The newest contents of this process, which need not be read from the database. */
export class RecentContents {
  readonly #byId = new Map<string, Recent>();
  #characters = 0;

  /** The first content of a generation counts, as in the database. */
  add({ generationId, content }: StoredContent, characters: number, now: number): void {
    if (this.#byId.has(generationId)) return;
    this.#byId.set(generationId, { content, characters, addedAt: now });
    this.#characters += characters;
    this.prune(now);
  }

  /** Removes the oldest, and what is too old. */
  prune(now: number): void {
    for (const [id, { addedAt }] of this.#byId) {
      if (this.#characters <= MAX_CHARACTERS && now - addedAt <= MAX_AGE_MS) return;
      this.delete([id]);
    }
  }

  has(generationId: string): boolean {
    return this.#byId.has(generationId);
  }

  contentOf(generationId: string): GenerationContent | undefined {
    return this.#byId.get(generationId)?.content;
  }

  /** 0 if it is not here. */
  charactersOf(generationId: string): number {
    return this.#byId.get(generationId)?.characters ?? 0;
  }

  delete(generationIds: readonly string[]): void {
    for (const id of generationIds) {
      this.#characters -= this.charactersOf(id);
      this.#byId.delete(id);
    }
  }
}
