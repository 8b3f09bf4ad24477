import type { JsonObject } from '../../../src/kit/json/json.ts';
import type { GenerationContent } from '../../../src/ports/content/content.ts';
import type { FollowedGeneration } from '../../../src/ports/following/follower.ts';
import type { GenerationRow, ProviderResponse } from '../../../src/ports/generations/generation-row.ts';
import type { StoredGeneration } from '../../../src/ports/generations/generations.ts';

/** When generations of these builders came in. */
export const FOLLOWED_AT = '2026-05-04T10:00:00.000Z';
export const FOLLOWED_AT_MS = Date.parse(FOLLOWED_AT);

/** An upstream call that answered after 300 ms. */
export function responseOf(members: Partial<ProviderResponse> = {}): ProviderResponse {
  return {
    provider_name: 'OpenAI',
    endpoint_id: 'openai/one',
    model_permaslug: 'openai/gpt-one-2026',
    status: 200,
    latency: 300,
    is_byok: false,
    ...members,
  };
}

/** The row of a plain streamed generation that took 1,000 ms. */
export function followedRow(members: Partial<GenerationRow> = {}): JsonObject {
  const row: GenerationRow = {
    api_type: 'completions',
    format: 'chat',
    model: 'openai/gpt-one',
    model_permaslug: 'openai/gpt-one-2026',
    variant: 'standard',
    provider_name: 'OpenAI',
    created_at: FOLLOWED_AT,
    app_id: null,
    app_title: 'My app',
    app_categories: [],
    origin: 'https://app.example',
    http_referer: 'https://app.example/page',
    user_agent: 'client/1.0',
    external_user: 'user-7',
    creator_user_id: 'user_maker',
    session_id: 'session-9',
    request_id: 'req-1',
    preset_id: null,
    trace: null,
    router: null,
    streamed: true,
    cancelled: false,
    finish_reason: 'stop',
    native_finish_reason: 'stop',
    latency: 320,
    generation_time: 980,
    moderation_latency: null,
    tokens_prompt: 100,
    tokens_completion: 50,
    native_tokens_prompt: 100,
    native_tokens_completion: 50,
    native_tokens_reasoning: 12,
    native_tokens_cached: 40,
    native_tokens_completion_images: 0,
    num_media_prompt: 0,
    num_media_completion: 0,
    num_input_audio_prompt: 0,
    num_search_results: null,
    num_fetches: null,
    web_search_engine: null,
    is_byok: false,
    is_zdr: false,
    service_tier: 'default',
    data_region: 'global',
    upstream_id: 'chatcmpl-1',
    response_cache_source_id: null,
    provider_responses: [responseOf({ id: 'chatcmpl-1' })],
    usage_source: 'measured',
    upstream_inference_nanos: '2000000',
    cache_discount_nanos: '0',
    web_search_nanos: '0',
    routing: { requested: 'openai/gpt-one', strategy: 'direct' },
    ...members,
  };
  return row as unknown as JsonObject;
}

export function followedContent(members: Partial<GenerationContent> = {}): GenerationContent {
  return {
    input: { messages: [{ role: 'user', content: 'What is blue?' }] },
    output: { completion: 'The sky.', reasoning: null },
    error: null,
    ...members,
  };
}

/** A followed generation that ended 1,000 ms after it came in. */
export function followedGeneration(
  members: Partial<GenerationRow> = {},
  content?: GenerationContent,
  generation: Partial<StoredGeneration> = {},
): FollowedGeneration {
  return {
    generation: {
      id: 'gen-1777888800-abc',
      scopes: { key: 'k'.repeat(64), workspace: 'w', account: 'a' },
      settledAtMs: FOLLOWED_AT_MS + 1_000,
      charge: { creditNanos: 2_000_000n, byokNanos: 0n },
      writtenOffNanos: 0n,
      writtenOffCause: null,
      row: followedRow(members),
      ...generation,
    },
    content,
  };
}
