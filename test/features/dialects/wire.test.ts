import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chatResultSchema,
  messagesResultSchema,
  responsesResultSchema,
} from '../../../src/contract/generations/generation-results.ts';
import { compileValidator } from '../../../src/kit/json/validate.ts';
import { RESPONSE_KEYS } from '../../kit/builders/response-keys.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { SIMULATED_UPSTREAMS, UPSTREAMS } from '../../kit/models.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openTestGateway(SIMULATED_UPSTREAMS);
});
afterAll(() => gateway.close());

const METADATA = { 'x-signalbox-metadata': 'enabled' };
const tools = [
  {
    type: 'function',
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];

const place = ['item_id', 'output_index'];
/** What each event of the responses format carries besides `type` and `sequence_number`. */
const EVENT_KEYS: Record<string, string[]> = {
  'response.created': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...place, 'content_index', 'part'],
  'response.content_part.done': [...place, 'content_index', 'part'],
  'response.output_text.delta': [...place, 'content_index', 'delta', 'logprobs'],
  'response.output_text.done': [...place, 'content_index', 'text', 'logprobs'],
  'response.refusal.delta': [...place, 'content_index', 'delta'],
  'response.refusal.done': [...place, 'content_index', 'refusal'],
  'response.function_call_arguments.delta': [...place, 'delta'],
  'response.function_call_arguments.done': [...place, 'name', 'arguments'],
  'response.reasoning_text.delta': [...place, 'content_index', 'delta'],
  'response.reasoning_text.done': [...place, 'content_index', 'text'],
  'response.reasoning_summary_part.added': [...place, 'summary_index', 'part'],
  'response.reasoning_summary_part.done': [...place, 'summary_index', 'part'],
  'response.reasoning_summary_text.delta': [...place, 'summary_index', 'delta'],
  'response.reasoning_summary_text.done': [...place, 'summary_index', 'text'],
  'response.image_generation_call.in_progress': place,
  'response.image_generation_call.generating': place,
  'response.image_generation_call.completed': place,
};

const SITUATIONS: [string, object][] = [
  ['standard', {}],
  ['reasoning', { reasoning: { effort: 'low', summary: 'auto' } }],
  ['tools', { tools }],
  ['refuse', {}],
  ['image', { modalities: ['text', 'image'] }],
  ['cut', {}],
];

describe('what a stream that opens before its content says of its time', () => {
  it('names the wait for the upstream so far', async () => {
    const holdHeadersMs = 200;
    const impatient = await openTestGateway(SIMULATED_UPSTREAMS, { times: { holdHeadersMs } });
    const body = { model: 'chat/slow', messages: [{ role: 'user', content: 'Hello' }], stream: true };
    const response = await impatient.post('/chat/completions', body);
    const timing = response.headers.get('server-timing') ?? '';
    await response.body?.cancel();
    await impatient.close();
    const [, upstream] = /upstream;dur=([\d.]+)/.exec(timing) ?? [];
    // A busy machine may call the upstream only shortly before the headers go out.
    expect(Number(upstream)).toBeGreaterThan(0);
  });
});

describe('what a failed generation says of its time', () => {
  it.each([true, false])('names the wait for the upstream (stream: %s)', async (stream) => {
    const body = { model: 'chat/fail-500', messages: [{ role: 'user', content: 'Hello' }], stream };
    const response = await gateway.post('/chat/completions', body);
    expect(response.status).toBeGreaterThanOrEqual(500);
    const [, milliseconds] = /upstream;dur=([\d.]+)/.exec(response.headers.get('server-timing') ?? '') ?? [];
    expect(Number(milliseconds)).toBeGreaterThan(0);
  });

  it('reports no upstream time if no upstream was called', async () => {
    const tired = await openTestGateway({ ...SIMULATED_UPSTREAMS, routing: { cooldown: { failures: 1 } } });
    const body = { model: 'chat/fail-429', messages: [{ role: 'user', content: 'Hello' }] };
    await tired.post('/chat/completions', body);
    const response = await tired.post('/chat/completions', body);
    const { error } = (await response.json()) as { error: { message: string } };
    await tired.close();
    expect(error.message).toContain('is rate limited');
    expect(response.headers.get('server-timing')).toContain('upstream;dur=0.00');
  });
});

describe.each(UPSTREAMS)('streams of the responses format, %s upstream', (upstream) => {
  it.each(SITUATIONS)('%s: every event has every field, in order', async (behaviour, more) => {
    const body = { model: `${upstream}/${behaviour}`, input: 'Hello', stream: true, ...more };
    const response = await gateway.post('/responses', body, METADATA);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-generation-id')).toMatch(/^gen-/);
    expect(response.headers.get('server-timing')).toMatch(/auth.*plan.*upstream.*gateway/);
    const events = await readEvents(response);
    expect(events.at(-1)).toEqual({ event: undefined, data: '[DONE]' });
    const data = events.slice(0, -1).map((event) => event.data);
    expect(data.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
    for (const [index, event] of data.entries()) {
      expect(Object.keys(EVENT_KEYS)).toContain(event.type);
      expect(Object.keys(event)).toEqual(
        expect.arrayContaining(['type', 'sequence_number', ...(EVENT_KEYS[event.type] ?? [])]),
      );
      expect(event.sequence_number).toBe(index);
      expect(event.error).toBeUndefined();
      if (event.response) expect(Object.keys(event.response)).toEqual(expect.arrayContaining(RESPONSE_KEYS));
    }
    const last = data.at(-1);
    expect(last.type).toBe(behaviour === 'cut' ? 'response.failed' : 'response.completed');
    expect(last.response.signalbox_metadata).toMatchObject({ requested: body.model, attempt: 1 });
    // Items: the same id from the first mention to the last, and the last form is what the final snapshot holds.
    const added = data.filter(({ type }) => type === 'response.output_item.added');
    const done = data.filter(({ type }) => type === 'response.output_item.done');
    expect(last.response.output.map(({ id }: any) => id)).toEqual(added.map(({ item }) => item.id));
    if (behaviour !== 'cut') expect(last.response.output).toEqual(done.map(({ item }) => item));
    for (const { type, item_id, output_index } of data) {
      if (item_id !== undefined) expect([type, item_id]).toEqual([type, added[output_index].item.id]);
    }
    expect(last.response.usage).toMatchObject({
      input_tokens: expect.any(Number),
      cost: expect.any(Number),
      is_byok: false,
    });
  });

  it('is whole without a stream too, and what the description says', async () => {
    for (const [behaviour, more] of SITUATIONS.filter(([name]) => name !== 'cut')) {
      const response = await gateway.post(
        '/responses',
        { model: `${upstream}/${behaviour}`, input: 'Hello', ...more },
        METADATA,
      );
      const body = (await response.json()) as any;
      expect(Object.keys(body)).toEqual(expect.arrayContaining([...RESPONSE_KEYS, 'signalbox_metadata']));
      expect(compileValidator(responsesResultSchema).issuesOf(body)).toEqual([]);
      expect(body.usage.total_tokens).toBe(body.usage.input_tokens + body.usage.output_tokens);
    }
  });
});

describe.each(UPSTREAMS)('streams of the messages format, %s upstream', (upstream) => {
  const messages = [{ role: 'user', content: 'Hello' }];
  const situations: [string, object][] = [
    ['standard', {}],
    ['reasoning', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
    ['tools', { tools: [{ name: 'get_weather', input_schema: tools[0]?.parameters }] }],
    ['refuse', {}],
  ];
  it.each(situations)('%s: blocks never overlap, usage is there twice', async (behaviour, more) => {
    const body = { model: `${upstream}/${behaviour}`, max_tokens: 3000, messages, stream: true, ...more };
    const events = await readEvents(await gateway.post('/messages', body, METADATA));
    for (const { event, data } of events) expect(data.type).toBe(event);
    const types = events.map(({ data }) => data.type).filter((type) => type !== 'ping');
    expect(types[0]).toBe('message_start');
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(events[0]?.data.message).toMatchObject({
      content: [],
      stop_reason: null,
      usage: { output_tokens: 0 },
    });
    let open: number | undefined;
    let next = 0;
    for (const { data } of events) {
      if (data.type === 'content_block_start') {
        expect(open).toBeUndefined();
        expect(data.index).toBe(next++);
        open = data.index;
      }
      if (data.type === 'content_block_delta') expect(data.index).toBe(open);
      if (data.type === 'content_block_stop') {
        expect(data.index).toBe(open);
        open = undefined;
      }
    }
    const delta = events.find(({ data }) => data.type === 'message_delta')?.data;
    expect(Object.keys(delta.delta).sort()).toEqual([
      'container',
      'stop_details',
      'stop_reason',
      'stop_sequence',
    ]);
    expect(delta.usage).toMatchObject({
      output_tokens: expect.any(Number),
      input_tokens: expect.any(Number),
      cost: expect.any(Number),
    });
    expect(events.at(-1)?.data.signalbox_metadata).toMatchObject({ requested: body.model });
  });

  it('is whole without a stream too, and what the description says', async () => {
    for (const [behaviour, more] of situations) {
      const request = { model: `${upstream}/${behaviour}`, max_tokens: 3000, messages, ...more };
      const body = await (await gateway.post('/messages', request, METADATA)).json();
      expect(compileValidator(messagesResultSchema).issuesOf(body)).toEqual([]);
      expect(body).toHaveProperty('signalbox_metadata');
    }
  });
});

describe.each(UPSTREAMS)('streams of the chat format, %s upstream', (upstream) => {
  const messages = [{ role: 'user', content: 'Hello' }];
  it.each(['standard', 'reasoning', 'refuse'])(
    '%s: usage and metadata ride on the last chunk',
    async (behaviour) => {
      const events = await readEvents(
        await gateway.post(
          '/chat/completions',
          { model: `${upstream}/${behaviour}`, messages, stream: true },
          METADATA,
        ),
      );
      expect(events.at(-1)?.data).toBe('[DONE]');
      const chunks = events.slice(0, -1).map(({ data }) => data);
      for (const chunk of chunks) {
        expect(chunk).toMatchObject({
          object: 'chat.completion.chunk',
          id: chunks[0].id,
          model: `${upstream}/${behaviour}`,
        });
        expect(chunk.choices).toHaveLength(1);
      }
      const last = chunks.at(-1);
      // A refusal in words ends like an answer; one without words is a filter's.
      expect(behaviour === 'refuse' ? ['stop', 'content_filter'] : ['stop']).toContain(
        last.choices[0].finish_reason,
      );
      expect(last.usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) });
      expect(last.signalbox_metadata).toMatchObject({ attempt: 1 });
      expect(chunks.slice(0, -1).every((chunk) => chunk.usage === undefined || chunk.usage === null)).toBe(
        true,
      );
    },
  );

  it('is whole without a stream too, and what the description says', async () => {
    const body = await (
      await gateway.post('/chat/completions', { model: `${upstream}/reasoning`, messages }, METADATA)
    ).json();
    expect(compileValidator(chatResultSchema).issuesOf(body)).toEqual([]);
  });
});

describe('routing metadata', () => {
  it('is absent unless it was asked for, by either header, in any case', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await (
        await gateway.post('/responses', { model: 'chat/standard', input: 'x' }, headers)
      ).json()) as any;
    expect((await ask({})).signalbox_metadata).toBeUndefined();
    expect((await ask({ 'X-SIGNALBOX-METADATA': 'Enabled' })).signalbox_metadata).toBeDefined();
    expect((await ask({ 'x-signalbox-experimental-metadata': 'enabled' })).signalbox_metadata).toBeDefined();
    expect((await ask({ 'x-signalbox-metadata': 'disabled' })).signalbox_metadata).toBeUndefined();
  });

  it('lists what was lost on the way', async () => {
    const body = {
      model: 'messages/standard',
      input: 'x',
      top_logprobs: 2,
      frequency_penalty: 0.5,
      client_metadata: { a: 1 },
    };
    const reply = (await (await gateway.post('/responses', body, METADATA)).json()) as any;
    const fields = reply.signalbox_metadata.translation.map(({ field }: any) => field);
    expect(fields).toEqual(expect.arrayContaining(['top_logprobs', 'frequency_penalty', 'client_metadata']));
    const relayed = (await (
      await gateway.post('/responses', { ...body, model: 'responses/standard' }, METADATA)
    ).json()) as any;
    expect(relayed.signalbox_metadata.translation).toMatchObject([
      { field: 'client_metadata', action: 'ignored' },
    ]);
  });

  it('names the filter that ruled an endpoint out', async () => {
    const response = await gateway.post(
      '/responses',
      { model: 'chat/standard', input: 'x', provider: { only: ['nobody'] } },
      METADATA,
    );
    const body = (await response.json()) as any;
    expect(response.status).toBe(404);
    expect(body.error.message).toContain('only');
    expect(body.signalbox_metadata).toMatchObject({
      attempt: 0,
      endpoints: { available: [], rejected: [{ filter: 'only' }] },
    });
  });
});
