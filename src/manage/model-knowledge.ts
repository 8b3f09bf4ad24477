import { createHash } from 'node:crypto';
import { type CatalogDocument, documentIssues } from '../catalog/catalog-document.ts';
import type { Difference } from '../catalog/differences.ts';
import type { ModelEntry } from '../catalog/entries.ts';
import type { KnownModel, KnownModels } from '../catalog/known-model.ts';
import { orderEndpoints } from '../catalog/order-endpoints.ts';
import { applyOverlay, type Overlay, overlayBetween, renderOverlay } from '../catalog/overlay.ts';
import { refresh } from '../catalog/refresh.ts';
import { allShippedModels, shippedModels } from '../catalog/shipped-models.ts';
import { GatewayError } from '../ir/errors.ts';
import type { Clock } from '../kit/ids.ts';
import type { Issue } from '../kit/validate.ts';
import type { CatalogOverlayStore } from '../ports/catalog-overlay.ts';

export type { Difference } from '../catalog/differences.ts';
export type { KnownModel } from '../catalog/known-model.ts';

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

/** What the gateway knows about models without being told by its configuration: what ships, and what was brought in. */
export class ModelKnowledge {
  readonly #store: CatalogOverlayStore;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #overlay: Overlay;

  constructor(store: CatalogOverlayStore, overlay: Overlay, clock: Clock) {
    this.#store = store;
    this.#overlay = overlay;
    this.#clock = clock;
  }

  /** The models that these providers serve, their endpoints in the order in which they are tried. */
  entriesOf(providers: ReadonlySet<string>): ModelEntry[] {
    const brought = this.#overlay.models.map((model) => ({
      ...model,
      endpoints: model.endpoints.filter(({ provider }) => providers.has(provider)),
    }));
    const ids = brought.filter(({ endpoints }) => endpoints.length > 0).map(({ id }) => id);
    const known = applyOverlay(shippedModels(providers, ids), { ...this.#overlay, models: brought });
    return [...known.values()].map((model) => ({
      ...model,
      endpoints: orderEndpoints(model, this.#clock.now()),
    }));
  }

  /** Everything that is known, by id. */
  all(): KnownModels {
    return applyOverlay(allShippedModels(), this.#overlay);
  }

  /** One model, by id or alias. Throws when nothing is known of it. */
  find(name: string): KnownModel {
    const models = this.all();
    const model =
      models.get(name) ?? [...models.values()].find(({ aliases }) => aliases?.includes(name) === true);
    if (model === undefined) throw new GatewayError('not-found', `nothing is known of a model ${name}`);
    return model;
  }

  /** Merges data into what is known, or says what that would change. */
  refresh(data: unknown, { prune, apply, state }: RefreshOptions): RefreshOutcome {
    const nowMs = this.#clock.now();
    const problems = documentIssues(data, nowMs);
    if (problems.length > 0) return { ok: false, problems };
    const current = this.#state();
    if (state !== undefined && state !== current) {
      throw new GatewayError('invalid-request', 'the catalogue was changed meanwhile; look again');
    }
    const document = data as CatalogDocument;
    const shipped = allShippedModels();
    const { models, differences, isChanged } = refresh(applyOverlay(shipped, this.#overlay), document, {
      prune,
      nowMs,
    });
    if (apply && isChanged) {
      this.#keep(overlayBetween(shipped, models, this.#overlay, document.as_of), nowMs);
    }
    return {
      ok: true,
      differences,
      changed: isChanged,
      applied: apply && isChanged,
      state: this.#state(),
    };
  }

  /** Calls back after something was brought in. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #keep(overlay: Overlay, nowMs: number): void {
    this.#store.write(renderOverlay(overlay, new Date(nowMs).toISOString().slice(0, 10)));
    this.#overlay = overlay;
    for (const listener of this.#listeners) listener();
  }

  #state(): string {
    return createHash('sha256').update(JSON.stringify(this.#overlay)).digest('hex').slice(0, 16);
  }
}
