import type { Static } from 'typebox';
import type { generationReplySchema } from '../../../contract/generations/generation-record.ts';
import type { RouteExample } from '../../route.ts';
import { GENERATION_ID, KEY_HASH, WORKSPACE_ID } from './ids.ts';

const BY_ID = { id: GENERATION_ID };

/** The record of a generation, and what was said in it. */
export const GENERATION_RECORD_EXAMPLES = {
  getGeneration: {
    query: BY_ID,
    answer: {
      data: {
        id: GENERATION_ID,
        workspace_id: WORKSPACE_ID,
        key_hash: KEY_HASH,
        ended_at: '2026-11-17T05:17:04.765Z',
        usage: 0.000112,
        total_cost: 0.000112,
        upstream_inference_cost: null,
        cache_discount: null,
        written_off: 0,
        written_off_cause: null,
        write_offs: [],
        reserved: 0.008194,
        prices: [
          { name: 'completion', price: '0.000004', min_prompt_tokens: 0 },
          { name: 'prompt', price: '0.000001', min_prompt_tokens: 0 },
        ],
        legs: [
          {
            kind: 'main',
            model: 'simulator/standard',
            provider_name: 'Simulator',
            started_at: '2026-11-17T05:17:04.666Z',
            duration_ms: 99,
            tokens_prompt: 4,
            tokens_completion: 27,
            cost: 0.000112,
            status: 'completed',
          },
        ],
        tool_calls: [],
        charges: [],
        api_type: 'completions',
        format: 'responses',
        error: null,
        model: 'simulator/standard',
        provider_name: 'Simulator',
        created_at: '2026-11-17T05:17:04.666Z',
        app_id: null,
        origin: '',
        http_referer: null,
        user_agent: 'my-app/1.0',
        external_user: null,
        session_id: null,
        request_id: GENERATION_ID,
        preset_id: null,
        trace: null,
        router: null,
        streamed: false,
        cancelled: false,
        finish_reason: 'stop',
        native_finish_reason: 'stop',
        latency: 62,
        generation_time: 37,
        moderation_latency: null,
        tokens_prompt: 4,
        tokens_completion: 27,
        native_tokens_prompt: 4,
        native_tokens_completion: 27,
        native_tokens_reasoning: 0,
        native_tokens_cached: 0,
        native_tokens_completion_images: 0,
        num_media_prompt: 0,
        num_media_completion: 0,
        num_input_audio_prompt: 0,
        num_search_results: null,
        num_fetches: null,
        web_search_engine: null,
        is_byok: false,
        service_tier: 'default',
        data_region: 'global',
        upstream_id: 'gen-simulated-552vkziki7d168khjacl',
        response_cache_source_id: null,
        provider_responses: [
          {
            provider_name: 'Simulator',
            endpoint_id: 'simulator',
            id: 'gen-simulated-552vkziki7d168khjacl',
            model_permaslug: 'simulator/standard',
            status: 200,
            latency: 36,
            is_byok: false,
          },
        ],
        hosted_tools: null,
        unpriced: null,
        usage_source: 'measured',
        routing: {
          requested: 'simulator/standard',
          strategy: 'direct',
          region: 'local',
          summary: 'available=1, selected=Simulator',
          attempt: 1,
          is_byok: false,
          endpoints: {
            total: 1,
            available: [
              {
                provider: 'Simulator',
                model: 'simulator/standard',
                selected: true,
              },
            ],
          },
          attempts: [
            {
              provider: 'Simulator',
              model: 'simulator/standard',
              status: 200,
            },
          ],
        },
      },
    } satisfies Static<typeof generationReplySchema>,
  },
  getGenerationContent: {
    query: BY_ID,
    answer: {
      data: {
        input: { messages: [{ role: 'user', content: 'Say hello.' }] },
        output: { completion: 'Hello.', reasoning: null },
        error: null,
      },
    },
  },
} as const satisfies Record<string, RouteExample>;
