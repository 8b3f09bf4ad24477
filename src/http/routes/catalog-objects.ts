import type { Static } from 'typebox';
import type { Endpoint, Model, Pricing, PricingOverride, ReasoningFacts } from '../../catalog/catalog.ts';
import { makesVectorsOnly } from '../../catalog/model-kind.ts';
import { EMBEDDING_PARAMETER_NAMES, PARAMETER_NAMES } from '../../catalog/parameter-names.ts';
import type { ProviderInfo } from '../../catalog/providers/all-providers.ts';
import type { endpointSchema } from '../../contract/catalog/endpoint.ts';
import type { architectureSchema, modelSchema } from '../../contract/catalog/model.ts';
import type { pricingSchema } from '../../contract/catalog/pricing.ts';
import type { providerSchema } from '../../contract/catalog/provider.ts';
import type { EndpointService } from '../../gateway/gateway.ts';
import { formatPrice } from '../../kit/money.ts';

/**
 * A model on the wire, as clients of all kinds read it. Prices, and limits in `top_provider`, are those of its first
 * endpoint.
 */
export function renderModel(model: Model, basePath: string): Static<typeof modelSchema> {
  const first = model.endpoints[0];
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    canonical_slug: model.canonicalSlug ?? model.id,
    name: model.name,
    display_name: model.name,
    owned_by: model.id.split('/', 1)[0] ?? '',
    description: model.description,
    created: model.created,
    created_at: new Date(model.created * 1000).toISOString(),
    architecture: renderArchitecture(model),
    context_length: model.contextLength ?? null,
    max_input_tokens: model.contextLength ?? null,
    max_tokens: first?.maxOutputTokens ?? model.maxOutputTokens ?? null,
    pricing: renderPricing(first?.pricing ?? {}, first?.overrides),
    top_provider: {
      is_moderated: false,
      context_length: first?.contextLength ?? model.contextLength ?? null,
      max_completion_tokens: first?.maxOutputTokens ?? model.maxOutputTokens ?? null,
    },
    per_request_limits: null,
    supported_parameters: parametersOf(model),
    supported_voices: null,
    default_parameters: null,
    hugging_face_id: model.huggingFaceId ?? null,
    knowledge_cutoff: model.knowledgeCutoff ?? null,
    expiration_date: null,
    ...(model.reasoning && { reasoning: renderReasoning(model.reasoning) }),
    links: { details: `${basePath}/models/${model.id}/endpoints` },
  };
}

/** Endpoints that cool down are shown as degraded. */
const STATUS_OF: Readonly<Record<EndpointService['state'], number>> = { ok: 0, probing: -1, cooling: -2 };

/** An endpoint on the wire, with what was measured of the shared one. */
export function renderEndpoint(
  endpoint: Endpoint,
  model: Model,
  service: EndpointService,
): Static<typeof endpointSchema> {
  const parameters = [...(endpoint.supportedParameters ?? namesFor(model))];
  const choosesTools = parameters.includes('tool_choice');
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
    pricing: renderPricing(endpoint.pricing, endpoint.overrides),
    supported_parameters: parameters,
    supports_implicit_caching: endpoint.cachesImplicitly ?? false,
    supports_tool_choice: {
      auto: choosesTools || parameters.includes('tools'),
      function: choosesTools,
      none: choosesTools,
      required: choosesTools,
    },
    status: STATUS_OF[service.state],
    uptime_last_5m: service.uptime5m,
    uptime_last_30m: service.uptime30m,
    uptime_last_1d: service.uptime1d,
    latency_last_30m: service.latency30m,
    throughput_last_30m: service.throughput30m,
  };
}

export function renderProvider({ name, slug, facts = {} }: ProviderInfo): Static<typeof providerSchema> {
  return {
    name,
    slug,
    privacy_policy_url: facts.privacyPolicyUrl ?? null,
    terms_of_service_url: facts.termsOfServiceUrl ?? null,
    status_page_url: facts.statusPageUrl ?? null,
    headquarters: facts.headquarters ?? null,
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

function renderReasoning(facts: ReasoningFacts): NonNullable<Static<typeof modelSchema>['reasoning']> {
  return {
    mandatory: facts.mandatory,
    ...(facts.defaultEnabled !== undefined && { default_enabled: facts.defaultEnabled }),
    ...(facts.defaultEffort && { default_effort: facts.defaultEffort }),
    ...(facts.supportedEfforts && { supported_efforts: [...facts.supportedEfforts] }),
    ...(facts.takesBudget !== undefined && { supports_max_tokens: facts.takesBudget }),
  };
}

function renderPricing(
  pricing: Pricing,
  overrides: readonly PricingOverride[] = [],
): Static<typeof pricingSchema> {
  return {
    prompt: '0',
    completion: '0',
    ...renderPrices(pricing),
    ...(overrides.length > 0 && {
      overrides: overrides.map(({ minPromptTokens, pricing: prices }) => ({
        min_prompt_tokens: minPromptTokens,
        ...renderPrices(prices),
      })),
    }),
  };
}

function renderPrices({ discount, ...prices }: Pricing) {
  return {
    ...Object.fromEntries(Object.entries(prices).map(([name, price]) => [name, formatPrice(price)])),
    ...(discount !== undefined && { discount: Number(formatPrice(discount)) }),
  };
}

/** Parameters that at least one endpoint of the model takes, in the order that clients know. */
export function parametersOf(model: Model): string[] {
  const names = namesFor(model);
  const { endpoints } = model;
  const isAll = endpoints.every(({ supportedParameters }) => supportedParameters === undefined);
  if (isAll && endpoints.length > 0) return [...names];
  const taken = new Set(endpoints.flatMap((endpoint) => [...(endpoint.supportedParameters ?? names)]));
  const known = names.filter((name) => taken.has(name));
  const others = [...taken].filter((name) => !names.includes(name)).sort();
  return [...known, ...others];
}

/** All parameters of models of a kind. */
function namesFor(model: Model): readonly string[] {
  return makesVectorsOnly(model) ? EMBEDDING_PARAMETER_NAMES : PARAMETER_NAMES;
}
