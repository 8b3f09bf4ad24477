import { EFFORT_WORDS } from '../config/schema/catalog-members.ts';
import { momentMs } from '../kit/time/moment.ts';
import type { Endpoint, Model, Provider, ReasoningFacts } from './catalog.ts';
import type { EndpointEntry, ModelEntry, ReasoningEntry } from './entries.ts';
import { listAt, priceListsOf } from './prices/price-history.ts';

/** Date of the shipped data; `created` of models without a date, because clients expect a number. */
export const CATALOG_DAY = '2026-11-02';

/** Builds a model with prices at `nowMs`; endpoints of unknown providers are left out. */
export function buildModel(
  entry: ModelEntry,
  providers: ReadonlyMap<string, Provider>,
  nowMs: number,
): Model {
  const createdMs = momentMs(entry.created ?? entry.as_of ?? CATALOG_DAY) ?? 0;
  const reasoning = entry.reasoning ? reasoningOf(entry.reasoning) : undefined;
  return {
    id: entry.id,
    ...(entry.canonical_slug && { canonicalSlug: entry.canonical_slug }),
    name: entry.name ?? entry.id,
    description: entry.description ?? '',
    ...(entry.hugging_face_id && { huggingFaceId: entry.hugging_face_id }),
    created: Math.floor(createdMs / 1000),
    ...(entry.knowledge_cutoff && { knowledgeCutoff: entry.knowledge_cutoff }),
    contextLength: entry.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? undefined,
    inputModalities: entry.input_modalities ?? ['text'],
    outputModalities: entry.output_modalities ?? ['text'],
    aliases: entry.aliases ?? [],
    quality: {
      ...(typeof entry.quality?.general === 'number' && { general: entry.quality.general }),
      ...(typeof entry.quality?.coding === 'number' && { coding: entry.quality.coding }),
    },
    ...(reasoning && { reasoning }),
    distillable: entry.distillable ?? false,
    endpoints: (entry.endpoints ?? []).flatMap((endpoint) => {
      const provider = providers.get(endpoint.provider);
      return provider === undefined
        ? []
        : [{ ...endpointOf(endpoint, entry, provider, nowMs), ...(reasoning && { reasoning }) }];
    }),
  };
}

function reasoningOf(entry: ReasoningEntry): ReasoningFacts {
  const {
    mandatory,
    default_enabled: isOn,
    default_effort: effort,
    supported_efforts: given,
    supports_max_tokens: takesBudget,
  } = entry;
  return {
    mandatory,
    ...(typeof isOn === 'boolean' && { defaultEnabled: isOn }),
    ...(effort && { defaultEffort: effort }),
    ...(given && { supportedEfforts: EFFORT_WORDS.filter((word) => given.includes(word)) }),
    ...(typeof takesBudget === 'boolean' && { takesBudget }),
  };
}

/** Routing tag of an endpoint; default: the provider's slug. */
export function tagOf({ tag, provider }: Pick<EndpointEntry, 'tag' | 'provider'>): string {
  return tag ?? provider;
}

/** Unique key of an endpoint. Names contain no line breaks. */
export function siteOfEndpoint(modelId: string, tag: string, upstreamModel: string): string {
  return `${modelId}\n${tag}\n${upstreamModel}`;
}

export function modelAndTagOf(site: string): { readonly model: string; readonly tag: string } {
  const [model = '', tag = ''] = site.split('\n');
  return { model, tag };
}

function endpointOf(entry: EndpointEntry, model: ModelEntry, provider: Provider, nowMs: number): Endpoint {
  const lists = priceListsOf(entry);
  const { pricing = {}, overrides = [] } = listAt(lists, nowMs) ?? {};
  return {
    provider,
    modelId: model.id,
    upstreamModel: entry.model ?? model.id,
    tag: tagOf(entry),
    site: siteOfEndpoint(model.id, tagOf(entry), entry.model ?? model.id),
    quantization: entry.quantization ?? undefined,
    contextLength: entry.context_length ?? model.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? model.max_output_tokens ?? undefined,
    ...(entry.max_inputs && { maxInputs: entry.max_inputs }),
    ...(entry.max_messages && { maxMessages: entry.max_messages }),
    ...(entry.decisions && { decisions: entry.decisions }),
    ...(entry.input_modalities && { inputModalities: entry.input_modalities }),
    supportedParameters: entry.supported_parameters ? new Set(entry.supported_parameters) : undefined,
    pricing,
    ...(overrides.length > 0 && { overrides }),
    ...((lists.length > 1 || overrides.length > 0) && { priceLists: lists }),
    ...(entry.unpriced && { servesUnpriced: entry.unpriced === 'allow' }),
    ...(entry.implicit_caching && { cachesImplicitly: true }),
  };
}
