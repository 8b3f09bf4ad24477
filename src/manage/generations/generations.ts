import type { RecordedPrice } from '../../contract/generations/generation-record.ts';
import { textAt } from '../../kit/json/members.ts';
import { appHostOf } from '../../kit/net/app-host.ts';
import type { ContentStore, GenerationContent } from '../../ports/content/content.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import type {
  GenerationStore,
  RecentGenerations,
  StoredGeneration,
} from '../../ports/generations/generations.ts';
import type { RefusedRequests } from '../../ports/generations/refused-requests.ts';
import type { PriceHistory } from '../models/price-history.ts';
import { notFound, requireFound } from '../refusals.ts';
import type { LogViewer } from './log-filter.ts';

export interface GenerationsDependencies {
  readonly recent: RecentGenerations;
  readonly rows: Pick<GenerationStore, 'find'>;
  readonly refused: Pick<RefusedRequests, 'find'>;
  readonly contents: Pick<ContentStore, 'get'>;
  readonly apps: Pick<AppRegistry, 'ofHosts'>;
  readonly prices: Pick<PriceHistory, 'inForce'>;
}

/** Who asks for what was said in a generation. */
export interface ContentViewer extends LogViewer {
  /** The only workspace whose prompts and answers the viewer may read; null = all of the account. */
  readonly workspaceId: string | null;
}

/** Looks up finished generations and refused requests of an account, or of one key. */
export class Generations {
  readonly #dependencies: GenerationsDependencies;

  constructor(dependencies: GenerationsDependencies) {
    this.#dependencies = dependencies;
  }

  /** One generation; visible as soon as its end was acknowledged to the caller. Throws 404. */
  async get({ accountId, keyHash }: LogViewer, id: string): Promise<StoredGeneration> {
    const { recent, rows, refused } = this.#dependencies;
    const early = recent.recent(id);
    const isEarly = early?.scopes.account === accountId;
    const found = isEarly
      ? early
      : requireFound((await rows.find(accountId, id)) ?? (await refused.find(accountId, id)));
    if (keyHash !== null && found.scopes.key !== keyHash) throw notFound();
    // Without its app if the database is unavailable: the generation itself is still in memory.
    return isEarly ? this.#withApp(found).catch(() => found) : this.#withApp(found);
  }

  /** List prices of the endpoint that served a generation, when it was asked for; none if they are unknown. */
  async pricesOf({ row }: StoredGeneration): Promise<readonly RecordedPrice[]> {
    const { model, provider_responses: calls, created_at: createdAt } = row as Partial<GenerationRow>;
    const endpoint = calls?.at(-1)?.endpoint_id;
    if (model === undefined || endpoint === undefined || createdAt === undefined) return [];
    // The record is worth more than its prices: without the database it is shown without them.
    const prices = await this.#dependencies.prices
      .inForce({ model, endpoint }, Date.parse(createdAt))
      .catch(() => []);
    return prices.map(({ member, price, minPromptTokens }) => ({
      name: member,
      price,
      min_prompt_tokens: minPromptTokens,
    }));
  }

  /** Prompt and answer of a generation. Throws 404 if they were not stored, or are not for this viewer. */
  async contentOf(viewer: ContentViewer, id: string): Promise<GenerationContent> {
    const { keyHash, workspaceId } = viewer;
    // Content does not say which key and workspace it is of.
    if (keyHash !== null || workspaceId !== null) {
      const { scopes } = await this.get(viewer, id);
      if (workspaceId !== null && scopes.workspace !== workspaceId) throw notFound();
    }
    return requireFound(await this.#dependencies.contents.get(viewer.accountId, id));
  }

  async #withApp(generation: StoredGeneration): Promise<StoredGeneration> {
    const { row } = generation;
    const host = appHostOf(textAt(row, 'http_referer') ?? null, textAt(row, 'app_title') ?? null);
    if (host === null) return generation;
    const [app] = await this.#dependencies.apps.ofHosts([host]);
    return app === undefined ? generation : { ...generation, row: { ...row, app_id: app.id } };
  }
}
