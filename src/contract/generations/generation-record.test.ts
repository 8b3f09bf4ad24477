import { describe, expect, it } from 'vitest';
import { generationObject } from './generation-record.ts';

/** Every member that the contract names. */
const MEMBERS =
  `id api_type model provider_name created_at app_id origin http_referer user_agent external_user
  session_id request_id preset_id trace router streamed cancelled finish_reason native_finish_reason latency generation_time
  moderation_latency tokens_prompt tokens_completion native_tokens_prompt native_tokens_completion
  native_tokens_reasoning native_tokens_cached native_tokens_completion_images num_media_prompt num_media_completion
  num_input_audio_prompt num_search_results num_fetches web_search_engine usage total_cost upstream_inference_cost
  cache_discount charges is_byok service_tier data_region upstream_id workspace_id response_cache_source_id provider_responses
  hosted_tools unpriced trace_id trace_url
  usage_source routing written_off written_off_cause write_offs reserved prices legs tool_calls key_hash ended_at format error
  refused_requests`.split(/\s+/);

const shown = (row = {}, settledAtMs = 0) =>
  generationObject({
    id: 'gen-1-x',
    scopes: { workspace: 'w', key: 'k' },
    settledAtMs,
    charge: { creditNanos: 1_234_567n, byokNanos: 5_000n },
    writtenOffNanos: 7n,
    writtenOffCause: 'searches',
    row,
  });

describe('generationObject', () => {
  it('has every member of the contract and no other, whatever the row has', () => {
    expect(Object.keys(shown()).sort()).toEqual([...MEMBERS].sort());
    expect(Object.keys(shown({ app_title: 'x', web_search_nanos: '1' })).sort()).toEqual([...MEMBERS].sort());
  });

  it('shows the call of the model as its leg, and none where the answer was kept', () => {
    const row = { model: 'm/one', provider_name: 'Acme', tokens_prompt: 3, tokens_completion: 4 };
    const leg = { kind: 'main', ...row, started_at: null, duration_ms: null, cost: 0.001234567 };
    const times = { created_at: '2026-09-27T10:00:00.123Z', latency: 30, generation_time: 12 };
    const settledAfter = (ms: number) => Date.parse(times.created_at) + ms;
    expect(shown({ ...row, ...times }, settledAfter(35)).legs).toMatchObject([
      { started_at: times.created_at, duration_ms: 35 },
    ]);
    // A crash: it was settled at the next start.
    expect(shown({ ...row, ...times }, settledAfter(60_000)).legs).toMatchObject([{ duration_ms: 42 }]);
    expect(shown({ ...row, finish_reason: 'stop' }).legs).toEqual([{ ...leg, status: 'completed' }]);
    expect(shown({ ...row, finish_reason: 'error' }).legs).toEqual([{ ...leg, status: 'failed' }]);
    expect(shown({ ...row, cancelled: true }).legs).toEqual([{ ...leg, status: 'cancelled' }]);
    expect(shown({ ...row, response_cache_source_id: 'gen-0-y' }).legs).toEqual([]);
  });

  it('shows legs and charges that the row lists', () => {
    const one = {
      kind: 'panel',
      model: 'm/one',
      provider_name: null,
      tokens_prompt: 3,
      tokens_completion: 4,
      status: 'failed',
    };
    const row = {
      legs: [{ ...one, cost_nanos: '1500' }],
      charges: [{ kind: 'web_search', nanos: '10000000' }],
    };
    expect(shown(row).legs).toEqual([{ ...one, started_at: null, duration_ms: null, cost: 0.0000015 }]);
    const timed = { ...one, started_at: '2026-09-27T10:00:00.123Z', duration_ms: 7 };
    expect(shown({ legs: [timed] }).legs).toEqual([{ ...timed, cost: 0 }]);
    expect(shown(row).charges).toEqual([{ kind: 'web_search', cost: 0.01 }]);
    expect(shown({ legs: [] }).legs).toEqual([]);
    expect(shown().charges).toEqual([]);
  });

  it('shows money in USD, that of BYOK credentials only where one served', () => {
    expect(shown({ is_byok: false, cache_discount_nanos: '-250' })).toMatchObject({
      usage: 0.001234567,
      total_cost: 0.001234567,
      upstream_inference_cost: null,
      cache_discount: -0.00000025,
      written_off: 0.000000007,
      written_off_cause: 'searches',
      write_offs: [{ cause: 'searches', cost: 0.000000007 }],
    });
    expect(shown({ is_byok: true, cache_discount_nanos: '0' })).toMatchObject({
      upstream_inference_cost: 0.000005,
      cache_discount: null,
    });
  });
});
