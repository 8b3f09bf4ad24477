import { createHash } from 'node:crypto';
import type { ModelEntry } from '../../catalog/entries.ts';
import { type CatalogDocument, documentIssues } from '../../catalog/knowledge/catalog-document.ts';
import type { Difference } from '../../catalog/knowledge/differences.ts';
import type { KnownModel, KnownModels } from '../../catalog/knowledge/known-model.ts';
import { orderEndpoints } from '../../catalog/knowledge/order-endpoints.ts';
import {
  applyOverlay,
  type Overlay,
  overlayBetween,
  parseOverlay,
  renderOverlay,
} from '../../catalog/knowledge/overlay.ts';
import { type Refreshed, refresh } from '../../catalog/knowledge/refresh.ts';
import { allShippedModels, shippedModels } from '../../catalog/shipped-models.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { forEachSliced, runAtOnce, runInTurns, type Sliced } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { CatalogOverlayStore } from '../../ports/catalog-overlay.ts';

export type { Difference } from '../../catalog/knowledge/differences.ts';
export type { KnownModel } from '../../catalog/knowledge/known-model.ts';

/** How to merge data. */
export interface RefreshOptions {
  /** Forget endpoints that the data do not list any more. */
  readonly prune: boolean;
  /** Store it; else it is only looked at. */
  readonly apply: boolean;
  /** The `state` of a look before: when something was stored since, nothing is. */
  readonly state?: string;
}

/** What data would change, or changed; or what is wrong with them. */
export type RefreshOutcome =
  | {
      readonly ok: true;
      readonly differences: readonly Difference[];
      /** Whether there is anything to store. */
      readonly changed: boolean;
      readonly applied: boolean;
      /** Tells one state of the stored data from all others. */
      readonly state: string;
    }
  | { readonly ok: false; readonly problems: readonly Issue[] };

/** What is wrong with newer data, all at once: for whoever has nothing else to do. */
export function problemsOfData(data: unknown, nowMs: number): Issue[] {
  return [...runAtOnce(documentIssues(data, nowMs))];
}

/** What the gateway knows about models without being told by its configuration: what ships, and what was brought in. */
export class ModelKnowledge {
  readonly #store: CatalogOverlayStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => Promise<void>>();
  #overlay: Overlay;
  /** The end of the last refresh: one begins when the one before it is over. */
  #refreshed: Promise<unknown> = Promise.resolve();

  constructor(store: CatalogOverlayStore, overlay: Overlay, clock: Clock) {
    this.#store = store;
    this.#overlay = overlay;
    this.#clock = clock;
  }

  /** The models that these providers serve, their endpoints in the order in which they are tried. */
  *entriesOf(providers: ReadonlySet<string>): Sliced<ModelEntry[]> {
    const { models, removed } = this.#overlay;
    const brought: KnownModel[] = [];
    yield* forEachSliced(models, (model) => {
      const endpoints = model.endpoints.filter(({ provider }) => providers.has(provider));
      brought.push(endpoints.length === model.endpoints.length ? model : { ...model, endpoints });
    });
    const ids = brought.filter(({ endpoints }) => endpoints.length > 0).map(({ id }) => id);
    const known = yield* applyOverlay(shippedModels(providers, ids), { models: brought, removed });
    const entries: ModelEntry[] = [];
    yield* forEachSliced(known.values(), (model) => {
      if (model.endpoints.length === 0) return;
      entries.push({ ...model, endpoints: orderEndpoints(model, this.#clock.now()) });
    });
    return entries;
  }

  /** Everything that is known, by id. */
  all(): Promise<KnownModels> {
    return runInTurns(applyOverlay(allShippedModels(), this.#overlay));
  }

  /** One model, by id or alias. Rejects when nothing is known of it. */
  async find(name: string): Promise<KnownModel> {
    const models = await this.all();
    const model =
      models.get(name) ?? [...models.values()].find(({ aliases }) => aliases?.includes(name) === true);
    if (model === undefined) throw new GatewayError('not-found', `nothing is known of a model ${name}`);
    return model;
  }

  /** Merges data into what is known, or says what that would change. Requests have their turns meanwhile. */
  refresh(data: unknown, options: RefreshOptions): Promise<RefreshOutcome> {
    const outcome = this.#refreshed.then(() => this.#refresh(data, options));
    this.#refreshed = outcome.catch(() => {});
    return outcome;
  }

  /** Calls back after something was brought in, and waits for it. */
  onChange(listener: () => Promise<void>): void {
    this.#listeners.add(listener);
  }

  /** Waits for what is being brought in: afterwards the store is left alone. */
  async close(): Promise<void> {
    await this.#refreshed;
  }

  async #refresh(data: unknown, { prune, apply, state }: RefreshOptions): Promise<RefreshOutcome> {
    const nowMs = this.#clock.now();
    const problems = await runInTurns(documentIssues(data, nowMs));
    if (problems.length > 0) return { ok: false, problems };
    const current = await runInTurns(stateOf(this.#overlay));
    if (state !== undefined && state !== current) {
      throw new GatewayError('invalid-request', 'the catalogue was changed meanwhile; look again');
    }
    const document = data as CatalogDocument;
    const merged = await runInTurns(mergeInto(this.#overlay, document, { prune, nowMs }));
    const { differences, isChanged: changed } = merged;
    const unchanged = { ok: true, differences, changed, applied: false, state: current } as const;
    if (!changed) return unchanged;
    const text = await runInTurns(renderOverlay(merged.overlay, dayOf(nowMs)));
    const stored = await runInTurns(readBack(text, this.#store.maxBytes));
    if (!stored.ok) return { ok: false, problems: [{ path: '', message: tooMuch(stored.problem) }] };
    if (!apply) return unchanged;
    this.#store.write(text);
    this.#overlay = stored.overlay;
    for (const listener of this.#listeners) await listener();
    return { ...unchanged, applied: true, state: await runInTurns(stateOf(stored.overlay)) };
  }
}

/** What data make of what was brought in before. */
function* mergeInto(
  before: Overlay,
  document: CatalogDocument,
  options: { readonly prune: boolean; readonly nowMs: number },
): Sliced<Refreshed & { readonly overlay: Overlay }> {
  const shipped = allShippedModels();
  yield;
  const known = yield* applyOverlay(shipped, before);
  const refreshed = yield* refresh(known, document, options);
  const overlay = yield* overlayBetween(shipped, refreshed.models, before, document.as_of);
  return { ...refreshed, overlay };
}

/** The text as the next start will read it: what that would refuse must not be stored. */
function* readBack(text: string, maxBytes: number): ReturnType<typeof parseOverlay> {
  if (Buffer.byteLength(text) > maxBytes) return { ok: false, problem: `is larger than ${maxBytes} bytes` };
  return yield* parseOverlay(text);
}

function tooMuch(problem: string): string {
  return `this cannot be stored: the catalogue with it ${problem}; bring in less, or forget older data with --prune`;
}

function* stateOf({ models, removed }: Overlay): Sliced<string> {
  const hash = createHash('sha256');
  yield* forEachSliced([...models, ...removed], (entry) => hash.update(`${JSON.stringify(entry)}\n`));
  return hash.digest('hex').slice(0, 16);
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
