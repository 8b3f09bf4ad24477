import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { byokCredentialOf } from '../../../test/kit/builders/route.ts';
import { callerOf } from '../../../test/kit/builders/tenancy.ts';
import { FREE } from '../../catalog/prices/bill.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { objectAt } from '../../kit/json/members.ts';
import { parsePrice } from '../../kit/money.ts';
import type { GenerationRow } from '../../ports/generations/generation-row.ts';
import { SHARED } from '../../routing/rules/candidate.ts';
import type { Plan } from '../plan/plan.ts';
import type { GenerationInput } from '../request/generation-input.ts';
import { AttemptLog } from './attempt-log.ts';
import {
  acceptedRow,
  completeRow,
  type PlannedGeneration,
  progressRow,
  settledRow,
} from './generation-row.ts';
import type { Settlement } from './settle.ts';

const ACCEPTED_MS = Date.parse('2026-09-27T10:00:00.123Z');
const price = (text: string) => parsePrice(text) ?? 0n;

const dead = endpointOf({ provider: providerOf({ slug: 'dead', name: 'Dead' }) });
const live = endpointOf({
  tag: 'acme/flex',
  pricing: {
    prompt: price('0.000001'),
    completion: price('0.000004'),
    input_cache_read: price('0.0000001'),
    web_search: price('0.01'),
  },
});
const model = modelOf({ canonicalSlug: 'acme/large-20260101', endpoints: [dead, live] });
const candidates = [dead, live].map((endpoint) => ({
  model,
  endpoint,
  access: SHARED,
  lane: 'translate' as const,
  isSticky: false,
}));
const [first, second] = candidates as [Plan['candidates'][number], Plan['candidates'][number]];

interface Changes {
  readonly input?: Partial<GenerationInput>;
  readonly request?: Partial<GenerationRequest>;
  readonly plan?: Partial<Plan>;
}

function planned({ input, request, plan }: Changes = {}): PlannedGeneration {
  const whole = requestOf(request);
  return {
    input: {
      format: 'responses',
      caller: callerOf({ creatorUserId: 'ada' }),
      body: whole.body,
      generationId: 'gen-1-x',
      acceptedAtMs: ACCEPTED_MS,
      wantsMetadata: false,
      header: () => {},
      signal: new AbortController().signal,
      replied: () => Promise.resolve(),
      timing: { mark: () => {}, awaitUpstream: () => {}, answered: () => {} },
      ...input,
    },
    request: whole,
    attemptLog: new AttemptLog({
      requested: 'acme/large',
      strategy: 'direct',
      candidates,
      rejected: [],
      pipeline: [],
      report: [],
      ...plan,
    }),
    region: null,
  };
}

const finished: Settlement = {
  usage: {
    ...NO_USAGE,
    inputTokens: 100,
    cachedTokens: 40,
    outputTokens: 20,
    reasoningTokens: 5,
    webSearchRequests: 1,
    source: 'measured',
  },
  bill: { totalNanos: 200n, inputNanos: 120n, outputNanos: 80n, isByok: false },
  outcome: 'finished',
  result: {
    upstreamId: 'up-1',
    finish: { type: 'finish', reason: 'tool-calls', nativeReason: 'tool_use', serviceTier: 'flex' },
    items: [
      { type: 'image', source: { kind: 'url', url: 'http://x' } },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'text',
            text: 'x',
            annotations: ['a', 'b', 'a'].map((url) => ({ type: 'url-citation' as const, url })),
          },
        ],
      },
    ],
  },
};

const TIMES = { firstContentMs: 250.4, endMs: 1250.4 };

function served(changes: Changes = {}): PlannedGeneration {
  const generation = planned(changes);
  generation.attemptLog.firstLeg.note(first, 502, 50);
  generation.attemptLog.firstLeg.lastCalled = second;
  generation.attemptLog.firstLeg.note(second, 200, 190);
  generation.attemptLog.firstLeg.select(second);
  return generation;
}

const rowAsAccepted = (generation: PlannedGeneration) =>
  completeRow(acceptedRow(generation)) as GenerationRow;

describe('acceptedRow', () => {
  it('has all that is known before anything is sent', () => {
    const row = rowAsAccepted(
      planned({
        input: {
          sessionId: 'from-header',
          body: { model: '@preset/mine' },
          attribution: {
            referer: 'https://App.example:8443/deep?x=1',
            title: 'App',
            categories: ['cli-agent'],
            userAgent: 'curl/8',
            requestId: 'mine',
          },
        },
        request: {
          user: 'end-user',
          models: ['acme/large:nitro'],
          wishes: { provider: { zdr: true }, plugins: [] },
          items: [
            {
              type: 'message',
              role: 'user',
              content: [
                { type: 'image', source: { kind: 'url', url: 'http://x' } },
                { type: 'audio', data: '', format: 'wav' },
              ],
            },
          ],
        },
      }),
    );
    expect(row).toMatchObject({
      api_type: 'completions',
      model: 'acme/large',
      variant: 'nitro',
      provider_name: null,
      created_at: '2026-09-27T10:00:00.123Z',
      app_title: 'App',
      app_categories: ['cli-agent'],
      origin: 'https://app.example:8443',
      http_referer: 'https://App.example:8443/deep?x=1',
      user_agent: 'curl/8',
      external_user: 'end-user',
      creator_user_id: 'ada',
      session_id: 'from-header',
      request_id: 'mine',
      preset_id: 'mine',
      router: null,
      streamed: true,
      num_media_prompt: 2,
      num_input_audio_prompt: 1,
      is_zdr: true,
    });
    expect(row.routing).toMatchObject({ requested: 'acme/large', summary: 'available=2' });
  });

  it('is the row of a generation that a crash ended', () => {
    expect(rowAsAccepted(planned())).toMatchObject({
      finish_reason: 'error',
      cancelled: false,
      usage_source: 'none',
      tokens_prompt: 0,
      tokens_completion: 0,
      upstream_inference_nanos: '0',
      request_id: 'gen-1-x',
      origin: null,
    });
  });

  it('has no member that JSON would lose', () => {
    const row = rowAsAccepted(planned());
    expect(JSON.parse(JSON.stringify(row))).toEqual(row);
    expect(Object.values(row)).not.toContain(undefined);
  });

  it('is whole as earlier releases kept it', () => {
    const row = rowAsAccepted(planned());
    expect(completeRow(row)).toBe(row);
    expect(completeRow(JSON.parse(JSON.stringify(acceptedRow(planned()))))).toEqual(row);
  });

  it('names the router where one chose', () => {
    const row = rowAsAccepted(planned({ request: { models: ['acorn/auto'] }, plan: { strategy: 'auto' } }));
    expect(row.router).toBe('acorn/auto');
  });

  it('stays small whatever was sent', () => {
    const long = 'x'.repeat(100_000);
    const rejected = Array.from({ length: 1000 }, () => ({ endpoint: dead, filter: 'only', reason: long }));
    const many = Array.from({ length: 1000 }, () => first);
    const row = rowAsAccepted(
      planned({
        input: { sessionId: long, body: { preset: long } },
        request: { user: long, models: [long] },
        plan: { requested: long, rejected, candidates: [...many, second], report: [], params: { long } },
      }),
    );
    expect(JSON.stringify(row).length).toBeLessThan(40_000);
    expect(row.routing).toMatchObject({ endpoints: { total: 2001 }, summary: 'available=1001' });
    const kept = objectAt(row.routing ?? {}, 'endpoints');
    expect(kept?.available).toHaveLength(16);
    expect(kept?.rejected).toHaveLength(32);
  });
});

describe('progressRow', () => {
  it('has the serving endpoint, the attempts and the usage, and nothing else', () => {
    const used = { usage: { ...finished.usage, source: 'estimated' as const }, bill: finished.bill };
    const { provider_responses: tried, routing, ...rest } = progressRow(served(), used, []);
    expect(tried?.map(({ status }) => status)).toEqual([502, 200]);
    expect(routing).toMatchObject({ attempt: 2, summary: 'available=2, selected=Acme' });
    expect(rest).toEqual({
      model: 'acme/large',
      model_permaslug: 'acme/large-20260101',
      variant: 'standard',
      provider_name: 'Acme',
      is_byok: false,
      tokens_prompt: 100,
      tokens_completion: 20,
      native_tokens_prompt: 100,
      native_tokens_completion: 20,
      native_tokens_reasoning: 5,
      native_tokens_cached: 40,
      native_tokens_completion_images: 0,
      usage_source: 'estimated',
      upstream_inference_nanos: '200',
    });
  });

  it('has what lost calls may cost, for a crash that comes before its end', () => {
    const uncharged = [{ cause: 'time_limit', nanos: 7n }] as const;
    const { usage, bill } = finished;
    expect(progressRow(served(), { usage, bill, uncharged }, []).write_offs).toEqual([
      { cause: 'time_limit', nanos: '7' },
    ]);
  });
});

describe('settledRow', () => {
  it('has the outcome of a generation', () => {
    const row = settledRow(served(), finished, TIMES);
    expect(row).toMatchObject({
      provider_name: 'Acme',
      cancelled: false,
      finish_reason: 'tool_calls',
      native_finish_reason: 'tool_use',
      latency: 250,
      generation_time: 1190,
      tokens_prompt: 100,
      native_tokens_cached: 40,
      usage_source: 'measured',
      num_media_completion: 1,
      num_search_results: 2,
      web_search_engine: 'native',
      service_tier: 'flex',
      upstream_id: 'up-1',
      upstream_inference_nanos: '200',
      cache_discount_nanos: '36000',
      web_search_nanos: '10000000',
    });
    expect(row.provider_responses).toEqual([
      {
        provider_name: 'Dead',
        endpoint_id: 'dead',
        model_permaslug: 'acme/large-20260101',
        status: 502,
        latency: 50,
        is_byok: false,
      },
      {
        provider_name: 'Acme',
        endpoint_id: 'acme/flex',
        id: 'up-1',
        model_permaslug: 'acme/large-20260101',
        status: 200,
        latency: 190,
        is_byok: false,
        routed_service_tier: 'flex',
      },
    ]);
    expect(row.routing).toMatchObject({ attempt: 2, summary: 'available=2, selected=Acme' });
    expect(JSON.parse(JSON.stringify(row))).toEqual(row);
  });

  it('dates content that came with the end to the end', () => {
    const row = settledRow(served(), finished, { endMs: 300 });
    expect(row).toMatchObject({ latency: 300, generation_time: 190 });
  });

  it('never has a finish reason of success for a failure', () => {
    const { finish: _, ...cut } = finished.result;
    const aborted = settledRow(served(), { ...finished, outcome: 'aborted', result: cut }, TIMES);
    expect(aborted).toMatchObject({ cancelled: true, finish_reason: null, service_tier: 'flex' });
    const error = new GatewayError('upstream-unavailable', 'gone');
    const failed = settledRow(served(), { ...finished, bill: FREE, outcome: 'failed', error }, TIMES);
    expect(failed).toMatchObject({
      cancelled: false,
      finish_reason: 'error',
      upstream_inference_nanos: '0',
      cache_discount_nanos: '0',
      web_search_nanos: '0',
    });
    expect(failed.routing).toMatchObject({ summary: 'available=2' });
  });

  it('names the last provider that was asked where none served', () => {
    const generation = planned();
    generation.attemptLog.firstLeg.lastCalled = first;
    generation.attemptLog.firstLeg.note(first, 502, 10);
    const error = new GatewayError('upstream-unavailable', 'gone');
    const settlement: Settlement = {
      usage: NO_USAGE,
      bill: FREE,
      outcome: 'failed',
      result: { items: [] },
      error,
    };
    expect(settledRow(generation, settlement, { endMs: 20 })).toMatchObject({
      provider_name: 'Dead',
      latency: null,
      generation_time: null,
      service_tier: null,
      usage_source: 'none',
    });
  });

  it('marks BYOK credentials', () => {
    const byok = { ...second, access: { kind: 'byok' as const, credential: byokCredentialOf() } };
    const generation = planned();
    generation.attemptLog.firstLeg.note(byok, 200, 5);
    generation.attemptLog.firstLeg.select(byok);
    const row = settledRow(generation, finished, TIMES);
    expect(row.is_byok).toBe(true);
    expect(row.provider_responses?.[0]?.is_byok).toBe(true);
  });
});
