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
import type { CatalogOverlayStore } from '../../ports/installation/catalog-overlay.ts';

export type { Difference } from '../../catalog/knowledge/differences.ts';
export type { KnownModel } from '../../catalog/knowledge/known-model.ts';

export interface RefreshOptions {
  /** Forget endpoints that the data do not list any more. */
  readonly prune: boolean;
  /** False = dry run. */
  readonly apply: boolean;
  /** `state` of an earlier dry run: throws if the stored data have changed since. */
  readonly state?: string;
}

/** The differences that data make, or the problems of the data. */
export type RefreshOutcome =
  | {
      readonly ok: true;
      readonly differences: readonly Difference[];
      /** Whether there is anything to store. */
      readonly changed: boolean;
      readonly applied: boolean;
      /** Fingerprint of the stored data. */
      readonly state: string;
    }
  | { readonly ok: false; readonly problems: readonly Issue[] };

/** Checks data without yielding to the event loop: for a process that serves no requests. */
export function problemsOfData(data: unknown, nowMs: number): Issue[] {
  return [...runAtOnce(documentIssues(data, nowMs))];
}

/** The models known without configuration: those that ship, overlaid with those of `catalog refresh`. */
export class ModelKnowledge {
  readonly #store: CatalogOverlayStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => Promise<void>>();
  #overlay: Overlay;
  /** Settles with the last refresh; refreshes run one after another. */
  #refreshed: Promise<unknown> = Promise.resolve();

  constructor(store: CatalogOverlayStore, overlay: Overlay, clock: Clock) {
    this.#store = store;
    this.#overlay = overlay;
    this.#clock = clock;
  }

  /** The models of these providers, endpoints in the order of attempts. */
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

  all(): Promise<KnownModels> {
    return runInTurns(applyOverlay(allShippedModels(), this.#overlay));
  }

  /** Merges data into the known models, or reports what would change. Yields to the event loop. */
  refresh(data: unknown, options: RefreshOptions): Promise<RefreshOutcome> {
    const outcome = this.#refreshed.then(() => this.#refresh(data, options));
    this.#refreshed = outcome.catch(() => {});
    return outcome;
  }

  /** Registers a listener that a refresh awaits after storing data. */
  onChange(listener: () => Promise<void>): void {
    this.#listeners.add(listener);
  }

  /** Waits for the current refresh; the store is not used afterwards. */
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

/** Parses the text as the next start will, so that nothing is stored that it would refuse. */
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
