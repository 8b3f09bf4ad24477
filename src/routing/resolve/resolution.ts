import type { Catalog, Endpoint, Model } from '../../catalog/catalog.ts';
import type { FusionSettings } from '../../catalog/fusion-team.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { HealthView } from '../health/endpoint-health.ts';
import type { Needs } from '../rules/needs.ts';
import type { RoutedModel } from '../rules/routed-model.ts';

export interface Resolution {
  readonly strategy: Strategy;
  /** In order of preference; at least one. */
  readonly models: readonly RoutedModel[];
  /** Decisions of routers, with reasons. */
  readonly pipeline: readonly PipelineEntry[];
  /** Parameters of the router's decision. */
  readonly params?: JsonObject;
  /** Settings that had no effect. */
  readonly report: readonly TranslationEntry[];
}

export interface ResolutionContext {
  readonly catalog: Catalog;
  /** Configured vendor name: prefix of router ids (`<vendor>/auto`). */
  readonly vendor: string;
  /** Patterns of the models that the auto-router may choose from; undefined = all. */
  readonly autoModels: readonly string[] | undefined;
  readonly fusion: FusionSettings;
  readonly needs: Needs;
  /** True if an endpoint passes the rules of this request. */
  readonly serves: (endpoint: Endpoint, model: Model) => boolean;
  /** Recent average cost of a token of the model, USD; undefined = no traffic. */
  readonly weightedPrice: (modelId: string) => number | undefined;
  readonly health: HealthView;
  /** The model that a router chose before in this conversation. */
  readonly pinnedModel: string | undefined;
  /** 0 <= n < 1. */
  readonly random: () => number;
}
