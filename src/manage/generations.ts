import type { ContentStore, GenerationContent } from '../ports/content.ts';
import type { GenerationStore, RecentGenerations, StoredGeneration } from '../ports/generations.ts';
import { requireFound } from './require-found.ts';

/** What is known of generations that have ended, for the accounts that they belong to. */
export class Generations {
  readonly #recent: RecentGenerations;
  readonly #rows: Pick<GenerationStore, 'find'>;
  readonly #contents: Pick<ContentStore, 'get'>;

  constructor(
    recent: RecentGenerations,
    rows: Pick<GenerationStore, 'find'>,
    contents: Pick<ContentStore, 'get'>,
  ) {
    this.#recent = recent;
    this.#rows = rows;
    this.#contents = contents;
  }

  /** One generation, from the moment at which its end was acknowledged. Throws 404. */
  async get(accountId: string, id: string): Promise<StoredGeneration> {
    const recent = this.#recent.recent(id);
    return requireFound(recent?.scopes.account === accountId ? recent : await this.#rows.find(accountId, id));
  }

  /** What was said in a generation. Throws 404 where that was not kept. */
  async contentOf(accountId: string, id: string): Promise<GenerationContent> {
    return requireFound(await this.#contents.get(accountId, id));
  }
}
