import type { Catalog, Endpoint, Model } from '../../catalog/catalog.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { HealthView } from '../health/endpoint-health.ts';
import type { Needs } from '../rules/needs.ts';
import type { RoutedModel } from '../rules/routed-model.ts';

/** The models that a request is to be answered by, and how they were found. */
export interface Resolution {
  readonly strategy: Strategy;
  /** In order of preference; at least one. */
  readonly models: readonly RoutedModel[];
  /** What routers decided, and why. */
  readonly pipeline: readonly PipelineEntry[];
  /** What a router went by. */
  readonly params?: JsonObject;
  /** Settings that had no effect. */
  readonly report: readonly TranslationEntry[];
}

/** What finding the models of a request needs to know besides the request. */
export interface ResolutionContext {
  readonly catalog: Catalog;
  /** The operator's word in the names of routers (`<vendor>/auto`). */
  readonly vendor: string;
  /** Patterns of the models that the auto-router may choose from; undefined = all that are known. */
  readonly autoModels: readonly string[] | undefined;
  /** What the request needs of the endpoint that serves it. */
  readonly needs: Needs;
  /** Whether an endpoint passes the hard filters of this request. */
  readonly serves: (endpoint: Endpoint, model: Model) => boolean;
  /** What a token of the model cost of late, USD; undefined = it was not used. */
  readonly weightedPrice: (modelId: string) => number | undefined;
  readonly health: HealthView;
  /** The model that a router chose before in this conversation. */
  readonly pinnedModel: string | undefined;
  /** From 0 up to 1, 1 excluded. */
  readonly random: () => number;
}
