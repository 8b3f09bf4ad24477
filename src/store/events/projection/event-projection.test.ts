import { describe, expect, it } from 'vitest';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import { eventOf } from './event-projection.ts';

const generation: StoredGeneration = {
  id: 'gen-1',
  scopes: { account: 'a', workspace: 'w', key: 'k' },
  settledAtMs: 2_000,
  charge: { creditNanos: 5n, byokNanos: 7n },
  writtenOffNanos: 3n,
  writtenOffCause: null,
  row: {
    model: 'acme/large',
    model_permaslug: 'acme/large-2026',
    variant: 'free',
    created_at: '1970-01-01T00:00:01.500Z',
    http_referer: 'https://App.Example:8443/page',
    provider_name: 'Acme',
    provider_responses: [{ endpoint_id: 'other' }, { endpoint_id: 'acme/fp8' }],
    native_tokens_prompt: 10_001,
    native_tokens_completion: 20,
    native_tokens_reasoning: 3,
    native_tokens_cached: 4,
    latency: 120,
    generation_time: 900,
    is_zdr: true,
    upstream_inference_nanos: '9007199254740993',
    cache_discount_nanos: '-12',
    web_search_nanos: '0',
    response_cache_source_id: null,
  },
};

describe('eventOf', () => {
  it('takes the moment at which the request came in, the charge and who served', () => {
    expect(eventOf(generation)).toMatchObject({
      id: 'gen-1',
      createdAtMs: 1_500,
      accountId: 'a',
      workspaceId: 'w',
      keyHash: 'k',
      modelId: 'acme/large',
      model: 'acme/large-2026',
      variant: 'free',
      app: 'app.example:8443',
      provider: 'Acme',
      endpoint: 'acme/fp8',
      contextLengthBucket: '100K',
      promptTokens: 10_001,
      completionTokens: 20,
      latencyMs: 120,
      generationMs: 900,
      isZdr: true,
      isFromCache: false,
      creditNanos: 5n,
      byokNanos: 7n,
      upstreamNanos: 9_007_199_254_740_993n,
      cacheNanos: -12n,
      webNanos: null,
    });
  });

  it('makes an event of a row that has nothing', () => {
    expect(eventOf({ ...generation, row: {} })).toMatchObject({
      createdAtMs: 2_000,
      model: '',
      variant: 'standard',
      endpoint: null,
      promptTokens: 0,
      latencyMs: null,
      upstreamNanos: 0n,
      cacheNanos: null,
    });
  });
});
