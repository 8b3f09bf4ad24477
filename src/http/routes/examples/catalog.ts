import type { Static } from 'typebox';
import type { endpointListSchema } from '../../../contract/catalog/endpoint.ts';
import type { modelListSchema, modelSchema } from '../../../contract/catalog/model.ts';
import type { providerListSchema } from '../../../contract/catalog/provider.ts';
import type { RouteExample } from '../../route.ts';

const ARCHITECTURE = {
  modality: 'text+image->text',
  input_modalities: ['text', 'image'],
  output_modalities: ['text'],
  tokenizer: 'Other',
  instruct_type: null,
} satisfies Static<typeof modelSchema>['architecture'];

const PRICING = {
  prompt: '0.000001',
  completion: '0.000004',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
};

const PARAMETERS = ['temperature', 'top_p', 'max_tokens', 'tools', 'tool_choice', 'structured_outputs'];

const MODEL = {
  id: 'simulator/standard',
  object: 'model',
  type: 'model',
  canonical_slug: 'simulator/standard',
  name: 'Simulator Standard',
  display_name: 'Simulator Standard',
  owned_by: 'simulator',
  description: 'Simulated, no model is asked.',
  created: 1793577600,
  created_at: '2026-11-02T00:00:00.000Z',
  architecture: ARCHITECTURE,
  context_length: 128000,
  max_input_tokens: 128000,
  max_tokens: 16000,
  pricing: PRICING,
  top_provider: { is_moderated: false, context_length: 128000, max_completion_tokens: 16000 },
  per_request_limits: null,
  supported_parameters: PARAMETERS,
  supported_voices: null,
  default_parameters: null,
  hugging_face_id: null,
  knowledge_cutoff: null,
  expiration_date: null,
  links: { details: '/api/v1/models/simulator/standard/endpoints' },
} satisfies Static<typeof modelSchema>;

const BY_ID = { author: 'simulator', slug: 'standard' };

const ONE_MODEL = {
  object: 'list',
  data: [MODEL],
  has_more: false,
  first_id: MODEL.id,
  last_id: MODEL.id,
  links: { next: null },
  total_count: 1,
} satisfies Static<typeof modelListSchema>;

/** Models, their endpoints and providers. */
export const CATALOG_EXAMPLES = {
  listModels: { query: { q: 'standard' }, answer: ONE_MODEL },
  countModels: { answer: { data: { count: 11 } } },
  listModelsForKey: { query: { q: 'standard' }, answer: ONE_MODEL },
  getModel: { params: BY_ID, answer: { data: MODEL } },
  retrieveModel: { params: BY_ID, answer: MODEL },
  retrieveModelByEncodedId: { params: { id: 'simulator/standard' }, answer: MODEL },
  listEndpoints: {
    params: BY_ID,
    answer: {
      data: {
        id: MODEL.id,
        name: MODEL.name,
        created: MODEL.created,
        description: MODEL.description,
        architecture: ARCHITECTURE,
        endpoints: [
          {
            name: 'Simulator | simulator/standard',
            model_id: MODEL.id,
            model_name: MODEL.name,
            provider_name: 'Simulator',
            tag: 'simulator',
            context_length: 128000,
            max_prompt_tokens: null,
            max_completion_tokens: 16000,
            quantization: null,
            pricing: PRICING,
            supported_parameters: PARAMETERS,
            supports_implicit_caching: false,
            supports_tool_choice: { auto: true, function: true, none: true, required: true },
            status: 0,
            uptime_last_5m: 100,
            uptime_last_30m: 100,
            uptime_last_1d: 100,
            latency_last_30m: { p50: 36.6, p75: 40.26, p90: 40.26, p99: 40.26 },
            throughput_last_30m: { p50: 714.9, p75: 590.8, p90: 590.8, p99: 590.8 },
          },
        ],
      },
    } satisfies Static<typeof endpointListSchema>,
  },
  listProviders: {
    answer: {
      data: [
        {
          name: 'AI21',
          slug: 'ai21',
          privacy_policy_url: null,
          terms_of_service_url: null,
          status_page_url: null,
          headquarters: null,
          datacenters: null,
        },
      ],
    } satisfies Static<typeof providerListSchema>,
  },
} as const satisfies Record<string, RouteExample>;
