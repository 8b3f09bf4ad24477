import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { PriceName } from '../config/price-names.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { isJsonObject, type Json } from '../kit/json.ts';
import { parsePrice } from '../kit/money.ts';
import type { Needs } from './needs.ts';

/** What a filter looks at. */
export interface FilterSubject {
  readonly request: GenerationRequest;
  readonly needs: Needs;
  readonly model: Model;
  readonly endpoint: Endpoint;
}

/** A hard rule. Returns why the endpoint is out, or undefined. */
export interface Filter {
  readonly name: string;
  reject(subject: FilterSubject): string | undefined;
}

/**
 * The endpoint writes as much as the request asks for. Held only as long as it leaves somebody: what is asked for is a
 * maximum, so an endpoint that writes less can still honour it.
 */
export const OUTPUT_LIMIT: Filter = {
  name: 'max_output_tokens',
  reject: ({ request: { maxOutputTokens: asked }, endpoint: { maxOutputTokens: most } }) =>
    asked !== undefined && most !== undefined && asked > most
      ? `writes at most ${most} tokens, ${asked} are asked for`
      : undefined,
};

/** The hard rules, in the order in which they are asked. */
export const FILTERS: readonly Filter[] = [
  {
    name: 'only',
    reject: ({ request, endpoint }) =>
      isListed(request.wishes.provider.only, endpoint) === false ? 'not in provider.only' : undefined,
  },
  {
    name: 'ignore',
    reject: ({ request, endpoint }) =>
      isListed(request.wishes.provider.ignore, endpoint) === true ? 'in provider.ignore' : undefined,
  },
  {
    name: 'data_collection',
    reject: ({ request, endpoint }) =>
      request.wishes.provider.data_collection === 'deny' && !isZeroRetention(endpoint)
        ? 'may train on or retain prompts'
        : undefined,
  },
  {
    name: 'zdr',
    reject: ({ request, endpoint }) =>
      request.wishes.provider.zdr === true && !isZeroRetention(endpoint)
        ? 'not known to retain nothing'
        : undefined,
  },
  {
    name: 'enforce_distillable_text',
    reject: ({ request, model }) =>
      request.wishes.provider.enforce_distillable_text === true && !model.distillable
        ? 'the model does not allow distillation'
        : undefined,
  },
  {
    name: 'quantizations',
    reject: ({ request, endpoint }) => {
      const allowed = request.wishes.provider.quantizations;
      return Array.isArray(allowed) && !allowed.includes(endpoint.quantization ?? 'unknown')
        ? `quantization is ${endpoint.quantization ?? 'unknown'}`
        : undefined;
    },
  },
  OUTPUT_LIMIT,
  {
    name: 'input_modalities',
    reject: ({ needs, model, endpoint }) =>
      missing(needs.inputModalities, endpoint.inputModalities ?? model.inputModalities, 'takes no', 'input'),
  },
  {
    name: 'output_modalities',
    reject: ({ needs, model }) =>
      missing(needs.outputModalities, model.outputModalities, 'makes no', 'output'),
  },
  {
    name: 'require_parameters',
    reject: ({ request, needs, endpoint }) => {
      if (request.wishes.provider.require_parameters !== true) return undefined;
      const lacking = [...needs.parameters].filter(
        (name) => endpoint.supportedParameters?.has(name) === false,
      );
      return lacking.length > 0 ? `does not support ${lacking.join(', ')}` : undefined;
    },
  },
  {
    name: 'max_price',
    reject: ({ request, endpoint }) => {
      const limits = request.wishes.provider.max_price;
      if (!isJsonObject(limits)) return undefined;
      const over = PRICE_LIMITS.find(([name, unitsPerPrice]) =>
        isAbove(endpoint, name, limits[name], unitsPerPrice),
      );
      return over === undefined ? undefined : `${over[0]} price is above the limit`;
    },
  },
];

/** Limits are in USD per million tokens for tokens, per unit for the rest. */
const PRICE_LIMITS: readonly (readonly [PriceName, bigint])[] = [
  ['prompt', 1_000_000n],
  ['completion', 1_000_000n],
  ['request', 1n],
  ['image', 1n],
  ['audio', 1n],
];

function isAbove(endpoint: Endpoint, name: PriceName, limit: Json | undefined, units: bigint): boolean {
  if (typeof limit !== 'number' && typeof limit !== 'string') return false;
  const most = parsePrice(typeof limit === 'number' ? limit.toFixed(12) : limit);
  return most !== undefined && (endpoint.pricing[name] ?? 0n) * units > most;
}

function isZeroRetention({ provider: { dataPolicy } }: Endpoint): boolean {
  return dataPolicy !== undefined && !dataPolicy.training && !dataPolicy.retainsPrompts;
}

function missing(
  needed: ReadonlySet<string>,
  offered: readonly string[],
  verb: string,
  noun: string,
): string | undefined {
  const lacking = [...needed].filter((modality) => !offered.includes(modality));
  return lacking.length > 0 ? `${verb} ${lacking.join(' or ')} ${noun}` : undefined;
}

/** Whether an endpoint is named by a list of slugs or display names; undefined when there is no list. */
function isListed(list: Json | undefined, endpoint: Endpoint): boolean | undefined {
  return Array.isArray(list)
    ? list.some((name) => typeof name === 'string' && isNamedBy(name, endpoint))
    : undefined;
}

const TIER_TAGS = /\/(flex|priority)$/;

/**
 * A base slug names every variant and region of its provider, a full slug one endpoint; endpoints of a service tier
 * are never meant by a base slug. Display names count as base slugs.
 */
export function isNamedBy(name: string, endpoint: Endpoint): boolean {
  const wanted = name.toLowerCase();
  const tag = endpoint.tag.toLowerCase();
  if (wanted === tag) return true;
  const { slug, name: displayName } = endpoint.provider;
  const isBase =
    wanted === slug.toLowerCase() || wanted === displayName.toLowerCase() || wanted === tag.split('/')[0];
  return isBase && !TIER_TAGS.test(tag);
}
