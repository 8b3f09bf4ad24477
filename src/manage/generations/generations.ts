import { textAt } from '../../kit/json/members.ts';
import { appHostOf } from '../../kit/net/app-host.ts';
import type { AppRegistry } from '../../ports/apps.ts';
import type { ContentStore, GenerationContent } from '../../ports/content.ts';
import type { GenerationStore, RecentGenerations, StoredGeneration } from '../../ports/generations.ts';
import { requireFound } from '../refusals.ts';

export interface GenerationsDependencies {
  readonly recent: RecentGenerations;
  readonly rows: Pick<GenerationStore, 'find'>;
  readonly contents: Pick<ContentStore, 'get'>;
  readonly apps: Pick<AppRegistry, 'ofHosts'>;
}

/** Looks up finished generations of an account. */
export class Generations {
  readonly #dependencies: GenerationsDependencies;

  constructor(dependencies: GenerationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** One generation; visible as soon as its end was acknowledged to the caller. Throws 404. */
  async get(accountId: string, id: string): Promise<StoredGeneration> {
    const { recent, rows } = this.#dependencies;
    const early = recent.recent(id);
    if (early?.scopes.account === accountId) {
      // Without its app if the database is unavailable: the generation itself is still in memory.
      return this.#withApp(early).catch(() => early);
    }
    return this.#withApp(requireFound(await rows.find(accountId, id)));
  }

  /** Prompt and answer of a generation. Throws 404 if they were not stored. */
  async contentOf(accountId: string, id: string): Promise<GenerationContent> {
    return requireFound(await this.#dependencies.contents.get(accountId, id));
  }

  async #withApp(generation: StoredGeneration): Promise<StoredGeneration> {
    const { row } = generation;
    const host = appHostOf(textAt(row, 'http_referer') ?? null, textAt(row, 'app_title') ?? null);
    if (host === null) return generation;
    const [app] = await this.#dependencies.apps.ofHosts([host]);
    return app === undefined ? generation : { ...generation, row: { ...row, app_id: app.id } };
  }
}
