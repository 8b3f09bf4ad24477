import { momentMs } from '../config/moment.ts';
import type { Endpoint, Model, Provider } from './catalog.ts';
import type { EndpointEntry, ModelEntry } from './entries.ts';
import { listAt, priceListsOf } from './price-history.ts';

/** Models that nobody dated count as made when the catalogue format was: clients want a number. */
const UNDATED_MS = 1_735_689_600_000;

/** One model with its endpoints, priced as of `nowMs`; endpoints of unknown providers are left out. */
export function buildModel(
  entry: ModelEntry,
  providers: ReadonlyMap<string, Provider>,
  nowMs: number,
): Model {
  const createdMs = entry.created ? momentMs(entry.created) : undefined;
  return {
    id: entry.id,
    ...(entry.canonical_slug && { canonicalSlug: entry.canonical_slug }),
    name: entry.name ?? entry.id,
    description: entry.description ?? '',
    ...(entry.hugging_face_id && { huggingFaceId: entry.hugging_face_id }),
    created: Math.floor((createdMs ?? UNDATED_MS) / 1000),
    contextLength: entry.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? undefined,
    inputModalities: entry.input_modalities ?? ['text'],
    outputModalities: entry.output_modalities ?? ['text'],
    aliases: entry.aliases ?? [],
    quality: {
      ...(typeof entry.quality?.general === 'number' && { general: entry.quality.general }),
      ...(typeof entry.quality?.coding === 'number' && { coding: entry.quality.coding }),
    },
    distillable: entry.distillable ?? false,
    endpoints: (entry.endpoints ?? []).flatMap((endpoint) => {
      const provider = providers.get(endpoint.provider);
      return provider === undefined ? [] : [endpointOf(endpoint, entry, provider, nowMs)];
    }),
  };
}

/** What routing calls an endpoint: the provider's own slug unless it says otherwise. */
export function tagOf({ tag, provider }: Pick<EndpointEntry, 'tag' | 'provider'>): string {
  return tag ?? provider;
}

function endpointOf(entry: EndpointEntry, model: ModelEntry, provider: Provider, nowMs: number): Endpoint {
  const lists = priceListsOf(entry);
  const { pricing = {}, overrides = [] } = listAt(lists, nowMs) ?? {};
  return {
    provider,
    modelId: model.id,
    upstreamModel: entry.model ?? model.id,
    tag: tagOf(entry),
    quantization: entry.quantization ?? undefined,
    contextLength: entry.context_length ?? model.context_length ?? undefined,
    maxOutputTokens: entry.max_output_tokens ?? model.max_output_tokens ?? undefined,
    ...(entry.input_modalities && { inputModalities: entry.input_modalities }),
    supportedParameters: entry.supported_parameters ? new Set(entry.supported_parameters) : undefined,
    pricing,
    ...(overrides.length > 0 && { overrides }),
    ...((lists.length > 1 || overrides.length > 0) && { priceLists: lists }),
    ...(entry.implicit_caching && { cachesImplicitly: true }),
  };
}
