import { forEachSliced, runInTurns, type Sliced } from '../kit/loop/turns.ts';
import type { GatewayProviders } from '../manage/gateway-providers/gateway-providers.ts';
import {
  type ConfiguredCatalog,
  filteredModels,
  findModel,
  type ListedModel,
  listedModels,
  type ModelFilter,
} from '../manage/models/listed-models.ts';
import type { ModelKnowledge } from '../manage/models/model-knowledge.ts';

export interface CatalogServices {
  readonly modelKnowledge: ModelKnowledge;
  /** Providers and models of the configuration; set in a serving process. */
  readonly configured?: (() => ConfiguredCatalog) | undefined;
  /** Absent = the operator has added none. */
  readonly gatewayProviders?: Pick<GatewayProviders, 'entries'>;
}

/** The models that a filter leaves. Yields to the event loop. */
export function listCatalog(services: CatalogServices, filter: ModelFilter): Promise<ListedModelView[]> {
  return withModels(services, function* (models) {
    const views: ListedModelView[] = [];
    yield* forEachSliced(yield* filteredModels(models, filter), (model) =>
      views.push(listedModelView(model)),
    );
    return views;
  });
}

/** One model with its endpoints. Yields to the event loop. */
export function showModel(
  services: CatalogServices,
  { model }: { readonly model: string },
): Promise<ListedModel> {
  return withModels(services, (models) => findModel(models, model));
}

/** Does something with all models, known and configured. */
async function withModels<T>(
  { modelKnowledge, configured, gatewayProviders }: CatalogServices,
  run: (models: readonly ListedModel[]) => Sliced<T>,
): Promise<T> {
  const known = await modelKnowledge.all();
  const settings = configured?.() ?? { providers: [], models: [] };
  return runInTurns(
    (function* () {
      const added = gatewayProviders?.entries ?? [];
      return yield* run(yield* listedModels(known, { ...settings, added }, Date.now()));
    })(),
  );
}

/** A model in a list. Prices are USD for a million tokens. */
export interface ListedModelView {
  readonly id: string;
  readonly name: string | null;
  readonly context_length: number | null;
  /** Tags, in the order of attempts. */
  readonly endpoints: readonly string[];
  readonly providers: readonly string[];
  /** True if the gateway calls one of the endpoints. */
  readonly is_on: boolean;
  /** Prices of the cheapest endpoint, of those that are on if one is; null if unknown. */
  readonly prompt_per_million: number | string | null;
  readonly completion_per_million: number | string | null;
  /** Day of the facts; null for what the configuration says. */
  readonly as_of: string | null;
}

function listedModelView({ id, name, context_length, endpoints, as_of }: ListedModel): ListedModelView {
  const isOn = endpoints.some(({ is_on }) => is_on);
  const priced = endpoints.filter(({ is_on }) => is_on === isOn).map(tokenPricesOf);
  const [cheapest] = priced.sort((one, other) => sumOf(one) - sumOf(other));
  return {
    id,
    name: name ?? null,
    context_length: context_length ?? null,
    endpoints: endpoints.map(({ tag }) => tag),
    providers: [...new Set(endpoints.map(({ provider }) => provider))],
    is_on: isOn,
    prompt_per_million: cheapest?.prompt_per_million ?? null,
    completion_per_million: cheapest?.completion_per_million ?? null,
    as_of: as_of ?? null,
  };
}

/** Prices for a million tokens, exact: a text where a number would lose digits. */
interface TokenPrices {
  readonly prompt_per_million?: number | string;
  readonly completion_per_million?: number | string;
}

function tokenPricesOf({ current_pricing }: ListedModel['endpoints'][number]): TokenPrices {
  return current_pricing as TokenPrices;
}

function sumOf({ prompt_per_million: prompt, completion_per_million: completion }: TokenPrices): number {
  return prompt === undefined && completion === undefined
    ? Number.POSITIVE_INFINITY
    : Number(prompt ?? 0) + Number(completion ?? 0);
}
