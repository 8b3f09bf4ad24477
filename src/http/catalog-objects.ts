import type { Static } from 'typebox';
import type { Endpoint, Model, Pricing, Provider } from '../catalog/catalog.ts';
import type { endpointSchema } from '../contract/endpoint.ts';
import type { architectureSchema, modelSchema } from '../contract/model.ts';
import type { pricingSchema } from '../contract/pricing.ts';
import type { providerSchema } from '../contract/provider.ts';
import { formatPrice } from '../kit/money.ts';

/** Names that clients look for in `supported_parameters`: what an endpoint without a list of its own takes. */
export const ALL_PARAMETERS: readonly string[] = [
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'max_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'response_format',
  'structured_outputs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'include_reasoning',
  'verbosity',
  'web_search_options',
];

/** A model on the wire. Prices and limits are those of the endpoint that is tried first. */
export function renderModel(model: Model, basePath: string): Static<typeof modelSchema> {
  const first = model.endpoints[0];
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    description: model.description,
    created: model.created,
    architecture: renderArchitecture(model),
    context_length: model.contextLength ?? null,
    pricing: renderPricing(first?.pricing ?? {}),
    top_provider: {
      is_moderated: false,
      context_length: first?.contextLength ?? model.contextLength ?? null,
      max_completion_tokens: first?.maxOutputTokens ?? model.maxOutputTokens ?? null,
    },
    per_request_limits: null,
    supported_parameters: parametersOf(model),
    supported_voices: null,
    default_parameters: null,
    hugging_face_id: null,
    knowledge_cutoff: null,
    expiration_date: null,
    links: { details: `${basePath}/models/${model.id}/endpoints` },
  };
}

/** An endpoint on the wire. Nothing is measured yet: statistics are null. */
export function renderEndpoint(endpoint: Endpoint, model: Model): Static<typeof endpointSchema> {
  return {
    name: `${endpoint.provider.name} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: endpoint.provider.name,
    tag: endpoint.tag,
    context_length: endpoint.contextLength ?? model.contextLength ?? null,
    max_prompt_tokens: null,
    max_completion_tokens: endpoint.maxOutputTokens ?? model.maxOutputTokens ?? null,
    quantization: endpoint.quantization ?? null,
    pricing: renderPricing(endpoint.pricing),
    supported_parameters: [...(endpoint.supportedParameters ?? ALL_PARAMETERS)],
    supports_implicit_caching: false,
    status: 0,
    uptime_last_5m: null,
    uptime_last_30m: null,
    uptime_last_1d: null,
    latency_last_30m: null,
    throughput_last_30m: null,
  };
}

export function renderProvider({ name, slug }: Provider): Static<typeof providerSchema> {
  return {
    name,
    slug,
    privacy_policy_url: null,
    terms_of_service_url: null,
    status_page_url: null,
    headquarters: null,
    datacenters: null,
  };
}

export function renderArchitecture(model: Model): Static<typeof architectureSchema> {
  return {
    modality: `${model.inputModalities.join('+')}->${model.outputModalities.join('+')}`,
    input_modalities: [...model.inputModalities],
    output_modalities: [...model.outputModalities],
    tokenizer: 'Other',
    instruct_type: null,
  };
}

function renderPricing({ discount, ...prices }: Pricing): Static<typeof pricingSchema> {
  const rendered = Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [name, formatPrice(price)]),
  );
  return {
    prompt: '0',
    completion: '0',
    ...rendered,
    ...(discount !== undefined && { discount: Number(formatPrice(discount)) }),
  };
}

/** What at least one endpoint of the model takes, in the order clients know. */
export function parametersOf(model: Model): string[] {
  const taken = new Set(
    model.endpoints.flatMap((endpoint) => [...(endpoint.supportedParameters ?? ALL_PARAMETERS)]),
  );
  const known = ALL_PARAMETERS.filter((name) => taken.has(name));
  const others = [...taken].filter((name) => !ALL_PARAMETERS.includes(name)).sort();
  return [...known, ...others];
}
