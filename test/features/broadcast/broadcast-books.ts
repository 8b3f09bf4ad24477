import { expect } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { chatAnswer, chatFrames, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  never,
  openFakeUpstream,
  reply,
  reset,
  type Script,
  SSE,
  truncate,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { type FakeMcpServer, openMcpServer, tool } from '../../kit/fakes/mcp-server.ts';
import { type OtlpReceiver, openOtlpReceiver, type ReceivedSpan } from '../../kit/fakes/otlp-receiver.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const PRICING = { prompt: '0.000001', completion: '0.000002' };
export const QUESTION = { messages: [{ role: 'user', content: 'What is secretly blue?' }] };
const ALL = {
  broadcast_generation_cost: true,
  broadcast_generation_identity: true,
  broadcast_generation_request_context: true,
};

const beginning = write(sse(chatFrames({ text: 'One two three' }).slice(0, 3)));
const calls = [
  { name: 'docs__search', arguments: '{"text":"x"}', id: 'a' },
  { name: 'advisor', arguments: '{"prompt":"Which way?"}', id: 'b' },
];

/** What upstream models do. */
const BEHAVIOURS: Readonly<Record<string, Script>> = {
  plain: chatAnswer({ text: 'The secret sky.', usage: { input: 20, output: 10, cached: 5 } }),
  down: reply(503, { error: { message: 'away' } }),
  breaks: [head(200, SSE), beginning, truncate()],
  hangs: [head(200, SSE), beginning, never()],
  closes: [reset()],
  empty: reply(200, { nothing: true }),
  bad: chatAnswer({ text: 'a forbidden answer' }),
  tools: (request) => {
    const isFirst = request.json.messages.at(-1).role === 'user';
    const script = chatAnswer(isFirst ? { tools: calls } : { text: 'Done.' });
    return typeof script === 'function' ? script(request) : script;
  },
  embeds: [
    head(200, { 'content-type': 'application/json' }),
    write(
      JSON.stringify({
        object: 'list',
        model: 'embeds',
        data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    ),
    end(),
  ],
};

export interface Asked {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly key?: string;
  /** The caller leaves after the first bytes. */
  readonly leaves?: boolean;
}

export interface Told {
  readonly record: any;
  readonly root: ReceivedSpan;
  readonly attempts: readonly ReceivedSpan[];
  readonly others: readonly ReceivedSpan[];
}

/** A gateway that tells two receivers everything, one in JSON and one in protobuf, and a third one no words. */
export interface BroadcastBooks {
  readonly gateway: TestGateway;
  readonly management: Management;
  readonly upstream: FakeUpstream;
  readonly docs: FakeMcpServer;
  readonly json: OtlpReceiver;
  readonly protobuf: OtlpReceiver;
  readonly secluded: OtlpReceiver;
  /** A key under a guardrail. */
  readonly guardedKey: string;
  /** Asks, and gives the id of the generation. */
  ask(body: JsonObject, asked?: Asked): Promise<string>;
  /** What the receivers were told of a generation, and its record, which must agree in what all generations have. */
  told(id: string): Promise<Told>;
  close(): Promise<void>;
}

export async function openBroadcastBooks(): Promise<BroadcastBooks> {
  const [json, protobuf, secluded] = await Promise.all([
    openOtlpReceiver(),
    openOtlpReceiver(),
    openOtlpReceiver(),
  ]);
  const upstream = await openFakeUpstream();
  upstream.answer((request) => {
    const script = BEHAVIOURS[request.json.model] ?? BEHAVIOURS.plain ?? [];
    return typeof script === 'function' ? script(request) : script;
  });
  const docs = await openMcpServer({ tools: () => ({ tools: [tool('search')], ttlMs: 0 }) });
  const models = [...Object.keys(BEHAVIOURS), 'one', 'two', 'judge', 'other'];
  const endpoint = (name: string) => ({ provider: `of-${name}`, model: name, pricing: PRICING });
  const gateway = await openTestGateway({
    providers: models.map((name) => ({
      slug: `of-${name}`,
      dialect: 'openai-chat',
      base_url: upstream.url,
      api_key: 'k',
    })),
    models: [
      ...models.map((name) => ({
        id: `m/${name}`,
        endpoints: [endpoint(name)],
        ...(name === 'embeds' && { output_modalities: ['embeddings'] }),
      })),
      { id: 'm/falls', endpoints: [endpoint('down'), endpoint('other')] },
      { id: 'm/skips', endpoints: [endpoint('empty'), endpoint('other')] },
    ],
    routing: { cooldown: { failures: 1, base_ms: 60_000, max_ms: 60_000 } },
    egress: { allow: [json, protobuf, secluded].map(({ origin }) => new URL(origin).host) },
    tools: { mcp_servers: { docs: { url: docs.url } } },
    plugins: { fusion: { panel: ['m/one', 'm/two'], judge: 'm/judge' } },
    observability: { propagate_trace: true },
  } as never);
  const management = managementOf(gateway);
  await management.data(200, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
  for (const [name, config, more] of [
    ['JSON', { endpoint: json.origin }, ALL],
    ['Protobuf', { endpoint: protobuf.origin, protocol: 'protobuf' }, ALL],
    ['Private', { endpoint: secluded.origin }, { privacy_mode: true }],
  ] as const) {
    await management.data(201, 'POST', '/observability/destinations', {
      type: 'otel-collector',
      name,
      config,
      ...more,
    });
  }
  const { id } = await management.data(201, 'POST', '/guardrails', {
    name: 'Rules',
    content_filters: [{ pattern: 'forbidden', action: 'block', label: 'WORD' }],
  });
  const { body } = await management.ask('POST', '/keys', { name: 'guarded' });
  await management.ask('POST', `/guardrails/${id}/assignments/keys`, { key_hashes: [body.data.hash] });
  const guardedKey: string = body.key;

  async function ask(body: JsonObject, { path = '/chat/completions', headers, key, leaves }: Asked = {}) {
    const leaving = new AbortController();
    const response = await gateway.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
      signal: leaving.signal,
      ...(key !== undefined && { key }),
    });
    if (leaves === true) {
      await response.body?.getReader().read();
      leaving.abort();
    } else await response.text();
    return response.headers.get('x-generation-id') ?? '';
  }

  async function told(id: string): Promise<Told> {
    const [spans, same] = [await spansAt(json, id), await spansAt(protobuf, id)];
    expect(same).toEqual(spans);
    const [root, ...children] = spans as [ReceivedSpan, ...ReceivedSpan[]];
    let record: any;
    await expect
      .poll(async () => {
        const answer = await gateway.fetch(`/generation?id=${id}`);
        record = ((await answer.json()) as any).data;
        return answer.status;
      })
      .toBe(200);
    const { attributes } = root;
    const createdMs = Date.parse(record.created_at);
    expect(root).toMatchObject({ kind: 2, traceId: record.trace_id, startMs: createdMs });
    expect(root.endMs).toBeGreaterThanOrEqual(root.startMs);
    expect(root.endMs).toBeLessThanOrEqual(Date.parse(record.ended_at) + 1);
    expect(attributes).toMatchObject({
      'gen_ai.usage.input_tokens': record.tokens_prompt,
      'gen_ai.usage.output_tokens': record.tokens_completion,
      'gen_ai.usage.cost': record.total_cost,
      'signalbox.key.hash': record.key_hash,
      'signalbox.workspace.id': record.workspace_id,
      'signalbox.request.id': record.request_id,
    });
    expect(attributes['gen_ai.response.finish_reasons']).toEqual(
      record.finish_reason === null ? undefined : [record.finish_reason],
    );
    if (record.streamed && record.latency !== null) {
      expect(attributes['gen_ai.response.time_to_first_chunk']).toBe(record.latency / 1000);
    }
    for (const child of children) {
      const parent = children.find(({ spanId }) => spanId === child.parentSpanId) ?? root;
      expect(child).toMatchObject({ traceId: root.traceId, parentSpanId: parent.spanId });
      expect(child.startMs).toBeGreaterThanOrEqual(root.startMs - 1);
      expect(child.endMs).toBeGreaterThanOrEqual(child.startMs);
      expect(child.endMs).toBeLessThanOrEqual(root.endMs + 1);
    }
    const attempts = children.filter(({ attributes: has }) => has['signalbox.endpoint'] !== undefined);
    const responses: any[] = record.provider_responses ?? [];
    expect(
      attempts.map(({ kind, spanId, attributes: has }) => [
        kind,
        spanId,
        has['signalbox.endpoint'],
        has['http.response.status_code'],
        has['gen_ai.request.model'],
      ]),
    ).toEqual(
      responses.map(({ span_id, endpoint_id, status, unanswered, model_permaslug }) => [
        3,
        span_id,
        endpoint_id,
        unanswered === true ? undefined : status,
        model_permaslug,
      ]),
    );
    if (record.legs.length > 1) {
      const costs = attempts.map(({ attributes: has }) => has['signalbox.leg.cost'] ?? 0);
      expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(record.total_cost, 9);
    }
    return { record, root, attempts, others: children.filter((child) => !attempts.includes(child)) };
  }

  return {
    gateway,
    management,
    upstream,
    docs,
    json,
    protobuf,
    secluded,
    guardedKey,
    ask,
    told,
    async close() {
      await gateway.close();
      await Promise.all([upstream, docs, json, protobuf, secluded].map((each) => each.close()));
    },
  };
}

const byGeneration = (id: string) => (span: ReceivedSpan) =>
  span.attributes['signalbox.generation.id'] === id;

/** The spans of a generation that a receiver got: the root first, then what is in it or in one of those. */
async function spansAt(receiver: OtlpReceiver, id: string): Promise<ReceivedSpan[]> {
  await expect.poll(() => receiver.spans().some(byGeneration(id))).toBe(true);
  const spans = receiver.spans();
  const root = spans.find(byGeneration(id)) as ReceivedSpan;
  const inRoot = new Set(spans.filter(({ parentSpanId }) => parentSpanId === root.spanId));
  const parents = new Set([...inRoot].map(({ spanId }) => spanId));
  return [root, ...spans.filter((span) => inRoot.has(span) || parents.has(span.parentSpanId ?? ''))];
}
