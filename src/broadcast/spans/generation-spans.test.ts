import { describe, expect, it } from 'vitest';
import {
  FOLLOWED_AT_MS,
  followedContent,
  followedGeneration,
  responseOf,
} from '../../../test/kit/builders/followed.ts';
import { type ReceivedSpan, spansIn } from '../../../test/kit/fakes/otlp-receiver.ts';
import type { LegKind } from '../../ir/leg.ts';
import type { FollowedGeneration } from '../../ports/following/follower.ts';
import type { LegRow, ToolCallRow } from '../../ports/generations/generation-row.ts';
import { traceRequest } from '../encode-traces.ts';
import type { SentParts } from './generation-spans.ts';

const LITTLE: SentParts = {
  privacyMode: false,
  sendsCost: false,
  sendsIdentity: false,
  sendsRequestContext: false,
};
const ALL: SentParts = {
  privacyMode: false,
  sendsCost: true,
  sendsIdentity: true,
  sendsRequestContext: true,
};

const spansOf = (generation: FollowedGeneration, sent = LITTLE): ReceivedSpan[] =>
  spansIn(traceRequest([generation], { sent, version: '1.2.3' }));

const rootOf = (generation: FollowedGeneration, sent = LITTLE) =>
  spansOf(generation, sent)[0] as ReceivedSpan;

const toolCall = (members: Partial<ToolCallRow> = {}): ToolCallRow => ({
  name: 'web_search',
  leg: 1,
  started_at: new Date(FOLLOWED_AT_MS + 400).toISOString(),
  duration_ms: 100,
  outcome: 'ok',
  cost_nanos: '5000000',
  input_characters: 10,
  output_characters: 20,
  ...members,
});

describe('the root span of a generation', () => {
  it('has what was asked, what answered, what was used and how long it took', () => {
    const [root, ...others] = spansOf(followedGeneration());
    expect(root).toMatchObject({
      name: 'chat openai/gpt-one',
      kind: 2,
      startMs: FOLLOWED_AT_MS,
      endMs: FOLLOWED_AT_MS + 1_000,
      parentSpanId: undefined,
      status: {},
      resource: { 'service.name': 'signalbox', 'service.version': '1.2.3' },
    });
    expect(root?.attributes).toEqual({
      'signalbox.generation.id': 'gen-1777888800-abc',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'openai/gpt-one',
      'gen_ai.response.model': 'openai/gpt-one-2026',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': 0.32,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gen_ai.usage.output_tokens': 50,
      'gen_ai.usage.reasoning.output_tokens': 12,
      'gen_ai.usage.total_tokens': 150,
      'gen_ai.conversation.id': 'session-9',
      'session.id': 'session-9',
      'user.id': 'user-7',
      'signalbox.request.format': 'chat',
      'signalbox.routing.strategy': 'direct',
      'signalbox.routing.attempts': 1,
      'signalbox.service_tier': 'default',
      'signalbox.usage.source': 'measured',
      'signalbox.byok': false,
    });
    expect(others).toHaveLength(1);
  });

  it.each([
    ['embeddings', 'embeddings'],
    ['decisions', 'decide'],
    ['classification', 'classify'],
  ] as const)('is named by what was asked: %s', (api_type, operation) => {
    const { name, attributes } = rootOf(followedGeneration({ api_type }));
    expect([name, attributes['gen_ai.operation.name']]).toEqual([`${operation} openai/gpt-one`, operation]);
  });

  it('has costs, identity and context only if the destination is sent them', () => {
    const names = (sent: Partial<SentParts>) =>
      Object.keys(rootOf(followedGeneration(), { ...LITTLE, ...sent }).attributes);
    const little = new Set(names({}));
    const added = (sent: Partial<SentParts>) =>
      names(sent)
        .filter((name) => !little.has(name))
        .sort();
    expect(added({ sendsCost: true })).toEqual(['gen_ai.usage.cost', 'signalbox.upstream_cost']);
    expect(added({ sendsIdentity: true })).toEqual([
      'signalbox.key.creator_user_id',
      'signalbox.key.hash',
      'signalbox.workspace.id',
    ]);
    expect(added({ sendsRequestContext: true })).toEqual([
      'signalbox.request.app',
      'signalbox.request.id',
      'signalbox.request.origin',
      'user_agent.original',
    ]);
    expect(rootOf(followedGeneration(), ALL).attributes).toMatchObject({
      'gen_ai.usage.cost': 0.002,
      'signalbox.key.hash': 'k'.repeat(64),
    });
  });

  it('has prompt and answer, unless the destination is private or there is none', () => {
    const content = followedContent();
    const { attributes } = rootOf(followedGeneration({}, content));
    expect(JSON.parse(attributes['gen_ai.input.messages'])).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'What is blue?' }] },
    ]);
    expect(JSON.parse(attributes['gen_ai.output.messages'])).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'The sky.' }], finish_reason: 'stop' },
    ]);
    for (const silent of [
      rootOf(followedGeneration({}, content), { ...ALL, privacyMode: true }),
      rootOf(followedGeneration(), ALL),
    ]) {
      expect(JSON.stringify(silent)).not.toContain('messages');
    }
  });

  it('says nothing of what a guardrail refused, and no prompt of which it changed a part', () => {
    const entry = (action: string, direction = 'sent') => ({
      type: 'guardrail',
      name: 'content-filter',
      summary: 'secret summary',
      guardrail_id: 'g1',
      guardrail_scope: 'workspace',
      data: { action, detected: true, engines: ['regex'], patterns: ['secret pattern'], direction },
    });
    const content = followedContent({
      input: { prompt: 'secret prompt' },
      output: { completion: 'an answer', reasoning: null },
    });
    const withEntry = (pipelineEntry: object, more = {}) =>
      followedGeneration({ routing: { pipeline: [pipelineEntry as never] }, ...more }, content);
    const blocked = spansOf(
      withEntry(entry('blocked'), {
        error: { status: 403, type: 'permission_denied' },
        finish_reason: 'error',
        provider_name: null,
        provider_responses: null,
      }),
    );
    expect(JSON.stringify(blocked)).not.toMatch(/secret|an answer/);
    expect(blocked[0]).toMatchObject({
      status: { code: 2, message: 'permission_denied (403)' },
      attributes: { 'error.type': 'permission_denied', 'http.response.status_code': 403 },
    });
    expect(blocked[1]).toMatchObject({
      name: 'guardrail content-filter',
      parentSpanId: blocked[0]?.spanId,
      attributes: {
        'signalbox.guardrail.id': 'g1',
        'signalbox.guardrail.action': 'blocked',
        'signalbox.guardrail.engines': ['regex'],
      },
    });
    const flagged = { type: 'plugin', name: 'moderation', data: { flagged: true, latency_ms: 12 } };
    expect(JSON.stringify(spansOf(withEntry(flagged)))).not.toMatch(/secret|an answer/);
    expect(JSON.stringify(spansOf(withEntry(entry('flagged'))))).toContain('secret prompt');
  });

  it('is an error with the type and status of the failure', () => {
    const failed = rootOf(
      followedGeneration({ error: { status: 502, type: 'provider_unavailable' }, finish_reason: 'error' }),
    );
    expect(failed.status).toEqual({ code: 2, message: 'provider_unavailable (502)' });
    const broken = rootOf(
      followedGeneration({ finish_reason: 'error', latency: null, generation_time: null }, undefined, {
        settledAtMs: FOLLOWED_AT_MS + 86_400_000,
      }),
    );
    expect(broken.status).toMatchObject({ code: 2 });
    expect(broken.attributes['error.type']).toBe('interrupted');
    expect(broken.endMs).toBe(FOLLOWED_AT_MS + 300);
    const left = rootOf(followedGeneration({ cancelled: true, finish_reason: null }));
    expect(left.status).toEqual({});
    expect(left.attributes['signalbox.cancelled']).toBe(true);
  });
});

describe('the trace of a generation', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const PARENT = '00f067aa0ba902b7';

  it('has ids that are the same every time, and differ between spans', () => {
    const generation = followedGeneration({ tool_calls: [toolCall(), toolCall()] });
    const ids = spansOf(generation).map(({ spanId }) => spanId);
    expect(spansOf(generation).map(({ spanId }) => spanId)).toEqual(ids);
    expect(new Set(ids).size).toBe(4);
    const [root, ...children] = spansOf(generation);
    for (const child of children) {
      expect(child).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId, flags: 0x101 });
    }
  });

  it('takes ids and names from the body', () => {
    const trace = {
      trace_id: TRACE,
      parent_span_id: PARENT,
      trace_name: 'Checkout',
      span_name: 'Ask',
      generation_name: 'Draft',
    };
    const [root, attempt] = spansOf(followedGeneration({ trace }));
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, name: 'Ask', flags: 0x301 });
    expect(root?.attributes).toMatchObject({ 'trace.name': 'Checkout', 'langfuse.trace.name': 'Checkout' });
    expect(attempt).toMatchObject({ traceId: TRACE, name: 'Draft' });
    const long = 'x'.repeat(10_000);
    const [cut, cutAttempt] = spansOf(
      followedGeneration({ trace: { trace_name: long, span_name: long, generation_name: long } }),
    );
    expect([cut?.name.length, cut?.attributes['trace.name'].length, cutAttempt?.name.length]).toEqual([
      256, 256, 256,
    ]);
    const ofText = rootOf(followedGeneration({ trace: { trace_id: 'workflow 7' } }));
    expect(ofText.traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  it('continues the trace of the headers, with their state and flags', () => {
    const header = { traceparent: `00-${TRACE}-${PARENT}-00`, tracestate: 'rojo=1' };
    const [root, attempt] = spansOf(followedGeneration(header));
    expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: 'rojo=1', flags: 0x300 });
    expect(attempt).toMatchObject({ traceId: TRACE, traceState: 'rojo=1', flags: 0x100 });
    const other = rootOf(followedGeneration({ ...header, trace: { trace_id: 'other' } }));
    expect(other.parentSpanId).toBeUndefined();
    expect(other.traceState).toBeUndefined();
  });

  it('passes on other keys within bounds, and counts those beyond', () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key${index}`, index]));
    const trace = { trace_name: 'x', feature: 'search', deep: { a: [1] }, ratio: 0.5, ok: true, none: null };
    expect(rootOf(followedGeneration({ trace })).attributes).toMatchObject({
      'trace.metadata.feature': 'search',
      'trace.metadata.deep': '{"a":[1]}',
      'trace.metadata.ratio': 0.5,
      'trace.metadata.ok': true,
    });
    const [span] = traceRequest([followedGeneration({ trace: many })], { sent: LITTLE, version: '1' })
      .resourceSpans[0]!.scopeSpans[0]!.spans;
    expect(span?.attributes?.filter(({ key }) => key.startsWith('trace.metadata.'))).toHaveLength(128);
    expect(span?.droppedAttributesCount).toBe(72);
    const alike = { [`${'x'.repeat(300)}1`]: 1, [`${'x'.repeat(300)}2`]: 2 };
    const [cut] = traceRequest([followedGeneration({ trace: alike })], { sent: LITTLE, version: '1' })
      .resourceSpans[0]!.scopeSpans[0]!.spans;
    expect(cut?.attributes?.filter(({ key }) => key.startsWith('trace.metadata.'))).toHaveLength(1);
    expect(cut?.droppedAttributesCount).toBe(1);
    const long = rootOf(followedGeneration({ trace: { note: 'x'.repeat(10_000) } }));
    expect(long.attributes['trace.metadata.note']).toHaveLength(4_096);
  });
});

describe('the spans of upstream calls', () => {
  it('has one for each call with its status, endpoint and times, and events for what was tried before', () => {
    const spans = spansOf(
      followedGeneration({
        latency: 720,
        generation_time: 580,
        provider_responses: [
          responseOf({ endpoint_id: 'openai/down', status: 503, latency: 100, cooldown_ms: 30_000 }),
          responseOf({ started_ms: 400, id: 'chatcmpl-1', span_id: 'a1b2c3d4e5f60718' }),
        ],
      }),
    );
    const [root, failed, served] = spans;
    expect(root?.events).toEqual([
      {
        name: 'signalbox.fallback',
        attributes: {
          'signalbox.fallback.from': 'openai/down',
          'signalbox.fallback.to': 'openai/one',
          'http.response.status_code': 503,
          'signalbox.leg.number': 1,
        },
      },
    ]);
    expect(failed).toMatchObject({
      kind: 3,
      name: 'chat openai/gpt-one-2026',
      startMs: FOLLOWED_AT_MS + 20,
      endMs: FOLLOWED_AT_MS + 120,
      status: { code: 2, message: 'status 503' },
      attributes: {
        'http.response.status_code': 503,
        'error.type': '503',
        'signalbox.endpoint': 'openai/down',
      },
      events: [{ name: 'signalbox.cooldown', attributes: { 'signalbox.cooldown_ms': 30_000 } }],
    });
    expect(served).toMatchObject({
      spanId: 'a1b2c3d4e5f60718',
      startMs: FOLLOWED_AT_MS + 420,
      endMs: FOLLOWED_AT_MS + 1_000,
      status: {},
      attributes: {
        'http.response.status_code': 200,
        'gen_ai.response.time_to_first_chunk': 0.3,
        'gen_ai.provider.name': 'openai',
      },
    });
    expect(Object.keys(served?.attributes ?? {}).some((name) => name.startsWith('gen_ai.usage'))).toBe(false);
  });

  it('links the calls of legs that follow one another, with what each has used', () => {
    const leg = {
      kind: 'main' as const,
      model: 'openai/gpt-one',
      provider_name: 'OpenAI',
      tokens_prompt: 60,
      tokens_completion: 20,
      cost_nanos: '1000000',
      status: 'completed' as const,
    };
    const at = (ms: number) => new Date(FOLLOWED_AT_MS + ms).toISOString();
    const [root, first, second, tool, mcp] = spansOf(
      followedGeneration({
        legs: [
          { ...leg, started_at: at(10), duration_ms: 390 },
          { ...leg, started_at: at(510), duration_ms: 490 },
        ],
        provider_responses: [responseOf(), responseOf({ leg: 2, started_ms: 500 })],
        tool_calls: [
          toolCall(),
          toolCall({ name: 'docs__find__it', outcome: 'timeout', error: 'secret of the tool' }),
        ],
      }),
      ALL,
    );
    expect(first).toMatchObject({ startMs: FOLLOWED_AT_MS + 10, endMs: FOLLOWED_AT_MS + 400, links: [] });
    expect(second?.links).toEqual([{ traceId: root?.traceId, spanId: first?.spanId }]);
    expect(second).toMatchObject({
      startMs: FOLLOWED_AT_MS + 510,
      endMs: FOLLOWED_AT_MS + 1_000,
      attributes: {
        'signalbox.leg.number': 2,
        'signalbox.leg.kind': 'main',
        'signalbox.leg.input_tokens': 60,
        'signalbox.leg.cost': 0.001,
      },
    });
    expect(tool).toMatchObject({
      name: 'execute_tool web_search',
      kind: 1,
      startMs: FOLLOWED_AT_MS + 400,
      endMs: FOLLOWED_AT_MS + 500,
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'web_search' },
    });
    expect(mcp).toMatchObject({
      name: 'tools/call find__it',
      kind: 3,
      status: { code: 2, message: 'timeout' },
      attributes: { 'mcp.method.name': 'tools/call', 'signalbox.mcp.server': 'docs' },
    });
    expect(JSON.stringify(mcp)).not.toContain('secret');
  });

  it('puts the calls of a model that helped a tool into the span of its call', () => {
    const leg: LegRow = {
      kind: 'main',
      model: 'm/one',
      provider_name: 'One',
      tokens_prompt: 1,
      tokens_completion: 1,
      cost_nanos: '0',
      status: 'completed',
    };
    const [root, ...children] = spansOf(
      followedGeneration({
        legs: [leg, { ...leg, kind: 'advisor', tool_call: 2 }, { ...leg, kind: 'panel', tool_call: 1 }, leg],
        provider_responses: [1, 2, 3, 4].map((number) => responseOf({ leg: number })),
        tool_calls: [
          toolCall({ name: 'fusion' }),
          toolCall({ name: 'advisor', span_id: '00f067aa0ba902b7' }),
        ],
      }),
    );
    const [first, advisor, panel, last, fusion, advising] = children;
    expect(advising?.spanId).toBe('00f067aa0ba902b7');
    expect([first, advisor, panel, last, fusion, advising].map((span) => span?.parentSpanId)).toEqual(
      [root, advising, fusion, root, root, root].map((span) => span?.spanId),
    );
  });

  it('says that an answer broke off, or was none', () => {
    const broken = spansOf(
      followedGeneration({ finish_reason: 'error', error: { status: 502, type: 'provider_unavailable' } }),
    )[1];
    expect(broken).toMatchObject({
      status: { code: 2, message: 'status 200, and no usable answer' },
      endMs: FOLLOWED_AT_MS + 1_000,
      attributes: {
        'http.response.status_code': 200,
        'error.type': 'provider_unavailable',
        'gen_ai.response.time_to_first_chunk': 0.3,
      },
    });
    const [, empty, never] = spansOf(
      followedGeneration({
        finish_reason: 'error',
        latency: null,
        generation_time: null,
        error: { status: 502, type: 'provider_unavailable' },
        provider_responses: [responseOf(), responseOf({ started_ms: 300 })],
      }),
    );
    expect(empty?.attributes['error.type']).toBe('_OTHER');
    expect(never?.attributes['error.type']).toBe('provider_unavailable');
    expect(never?.attributes).not.toHaveProperty(['gen_ai.response.time_to_first_chunk']);
    const left = spansOf(followedGeneration({ cancelled: true, finish_reason: null }))[1];
    expect(left?.status).toEqual({});
  });

  it('has no status of an upstream that gave no answer', () => {
    const [root, refused, silent] = spansOf(
      followedGeneration({
        finish_reason: 'error',
        latency: null,
        generation_time: null,
        error: { status: 504, type: 'timeout' },
        provider_responses: [
          responseOf({ status: 502, unanswered: true }),
          responseOf({ status: 504, unanswered: true, started_ms: 300 }),
        ],
      }),
    );
    expect(root?.events[0]?.attributes).not.toHaveProperty(['http.response.status_code']);
    for (const span of [refused, silent]) {
      expect(span?.attributes).not.toHaveProperty(['http.response.status_code']);
      expect(span?.status).toEqual({ code: 2, message: 'no answer' });
    }
    expect(refused?.attributes['error.type']).toBe('_OTHER');
    expect(silent?.attributes['error.type']).toBe('timeout');
    const gone = spansOf(
      followedGeneration({
        cancelled: true,
        finish_reason: null,
        latency: null,
        generation_time: null,
        provider_responses: [responseOf({ status: 499, unanswered: true })],
      }),
    )[1];
    expect(gone).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'cancelled' } });
  });

  it('links legs to those right before them, not to those beside them', () => {
    const leg = (kind: LegKind, startMs: number, durationMs?: number): LegRow => ({
      kind,
      model: 'm',
      provider_name: 'OpenAI',
      tokens_prompt: 1,
      tokens_completion: 1,
      cost_nanos: '1',
      status: 'completed',
      started_at: new Date(FOLLOWED_AT_MS + startMs).toISOString(),
      ...(durationMs !== undefined && { duration_ms: durationMs }),
    });
    const linksOf = (...legs: LegRow[]) => {
      const calls = legs.map((_, index) => responseOf({ leg: index + 1 }));
      const spans = spansOf(followedGeneration({ legs, provider_responses: calls })).slice(1);
      return spans.map(({ links }) =>
        links.map((link) => spans.findIndex(({ spanId }) => spanId === link.spanId) + 1),
      );
    };
    const panel = [leg('panel', 0, 100), leg('panel', 1, 50), leg('panel', 2, 80)];
    expect(linksOf(...panel, leg('judge', 110, 20), leg('main', 130, 10))).toEqual([
      [],
      [],
      [],
      [1, 2, 3],
      [4],
    ]);
    // The second member of a panel has tools, and the third ends while it works.
    expect(
      linksOf(leg('panel', 0, 10), leg('panel', 1, 5), leg('panel', 20, 5), leg('judge', 30, 5)),
    ).toEqual([[], [], [1, 2], [3]]);
    expect(linksOf(leg('main', 0, 0), leg('main', 0, 0), leg('main', 0, 0))).toEqual([[], [1], [2]]);
    expect(linksOf(leg('main', 0), leg('main', 5, 1))).toEqual([[], []]);
    const { started_at: _, ...old } = leg('main', 0);
    expect(linksOf(old, old)).toEqual([[], [1]]);
  });

  it('has none for an answer from the cache', () => {
    const [root, ...others] = spansOf(
      followedGeneration({
        provider_responses: null,
        response_cache_source_id: 'gen-0',
        provider_name: null,
      }),
    );
    expect(others).toEqual([]);
    expect(root?.attributes['signalbox.cache.source_generation_id']).toBe('gen-0');
  });
});
