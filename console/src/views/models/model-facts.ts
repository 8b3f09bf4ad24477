import type { EndpointStateObject, ModelObject } from '../../api/contract.ts';
import { together, type UptimeWindow } from '../../parts/uptime.tsx';

/** A model with what is known of its endpoints. */
export interface ModelRow {
  readonly model: ModelObject;
  readonly endpoints: readonly EndpointStateObject[];
  /** The calls of all endpoints in the last day; undefined = not known. */
  readonly lastDay: UptimeWindow | undefined;
  /** Share of the spend of the last day, 0..1; null = not known. */
  readonly spendShare: number | null;
}

export function modelRows(
  models: readonly ModelObject[],
  endpoints: readonly EndpointStateObject[],
  spend: ReadonlyMap<string, number> | undefined,
): ModelRow[] {
  const byModel = new Map<string, EndpointStateObject[]>();
  for (const endpoint of endpoints) {
    const known = byModel.get(endpoint.model);
    if (known === undefined) byModel.set(endpoint.model, [endpoint]);
    else known.push(endpoint);
  }
  const total = [...(spend?.values() ?? [])].reduce((sum, usd) => sum + usd, 0);
  return models.map((model) => {
    const own = byModel.get(model.id) ?? [];
    return {
      model,
      endpoints: own,
      lastDay: lastDayOf(own),
      spendShare: spend === undefined || total === 0 ? null : (spend.get(model.canonical_slug) ?? 0) / total,
    };
  });
}

function lastDayOf(endpoints: readonly EndpointStateObject[]): UptimeWindow | undefined {
  const known = endpoints.flatMap(({ uptime }) => uptime?.last_1d ?? []);
  return known.length === 0 ? undefined : together(known);
}

/** The fastest of the endpoints; null = nothing measured. */
export function latencyOf({ endpoints }: ModelRow): number | null {
  const medians = endpoints.flatMap(({ latency_last_30m: latency }) => latency?.p50 ?? []);
  return medians.length === 0 ? null : Math.min(...medians);
}

export function throughputOf({ endpoints }: ModelRow): number | null {
  const medians = endpoints.flatMap(({ throughput_last_30m: throughput }) => throughput?.p50 ?? []);
  return medians.length === 0 ? null : Math.max(...medians);
}

/** What the reader narrows the list by. */
export interface ModelWish {
  readonly search: string;
  /** An input that models take, such as `image`; null = any. */
  readonly takes: string | null;
  /** Slug of a provider; null = any. */
  readonly provider: string | null;
}

export function fits({ model, endpoints }: ModelRow, { search, takes, provider }: ModelWish): boolean {
  if (takes !== null && !takesOf(model).includes(takes)) return false;
  if (provider !== null && !endpoints.some((endpoint) => endpoint.provider === provider)) return false;
  return `${model.id} ${model.name}`.toLowerCase().includes(search.toLowerCase());
}

/** Inputs besides text, and abilities that people look for. */
export function takesOf({ architecture, supported_parameters: parameters }: ModelObject): string[] {
  return [
    ...architecture.input_modalities.filter((modality) => modality !== 'text'),
    ...['tools', 'reasoning'].filter((name) => parameters.includes(name)),
  ];
}

/** Author and name of an id: the author is shown quieter. */
export function partsOfId(id: string): { readonly author: string; readonly name: string } {
  const slash = id.indexOf('/') + 1;
  return { author: id.slice(0, slash), name: id.slice(slash) };
}

/** Price per token as a number; null = the model has none. */
export function priceOf(
  model: ModelObject,
  member: 'prompt' | 'completion' | 'input_cache_read',
): number | null {
  const price = model.pricing[member];
  return price === undefined ? null : Number(price);
}
