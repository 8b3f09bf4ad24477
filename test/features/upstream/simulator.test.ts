import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { buildCatalog } from '../../../src/catalog/build-catalog.ts';
import { SIMULATOR_MODELS } from '../../../src/catalog/simulator-catalog.ts';
import { chat } from '../../../src/dialects/chat/index.ts';
import type { InboundDialect } from '../../../src/dialects/dialect.ts';
import { DIALECTS, FORMATS as FORMAT_DIALECTS } from '../../../src/dialects/dialects.ts';
import type { Lane } from '../../../src/dialects/lane.ts';
import { messages } from '../../../src/dialects/messages/index.ts';
import { responses } from '../../../src/dialects/responses/index.ts';
import { fold } from '../../../src/ir/folding/fold.ts';
import type { Format } from '../../../src/ir/items.ts';
import type { Result } from '../../../src/ir/result.ts';
import { randomIds } from '../../../src/kit/ids.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { MemoryBudget } from '../../../src/kit/loop/memory-budget.ts';
import type { Clock } from '../../../src/kit/time/clock.ts';
import { createCallUpstream } from '../../../src/upstream/call/call.ts';
import { BEHAVIOURS } from '../../../src/upstream/simulator/behaviours.ts';
import { createSimulator } from '../../../src/upstream/simulator/simulator.ts';
import { UpstreamFailure } from '../../../src/upstream/upstream.ts';

const FORMATS: readonly Format[] = ['responses', 'messages', 'chat'];
const LANES: readonly Lane[] = ['relay', 'translate'];

const inbound: Record<Format, InboundDialect> = {
  responses: responses.inbound,
  messages: messages.inbound,
  chat: chat.inbound,
};
const clock: Clock = { now: () => 1_760_000_000_000, monotonic: () => 0 };

const waits: number[] = [];
const callUpstream = createCallUpstream({
  largeAnswers: new MemoryBudget(() => Number.POSITIVE_INFINITY),
  transports: (() => {
    const simulator = createSimulator({
      dialects: FORMAT_DIALECTS,
      vendor: 'signalbox',
      clock,
      sleep: async (milliseconds) => void waits.push(milliseconds),
    });
    return { network: simulator, simulator };
  })(),
  dialects: DIALECTS,
  authorize: async () => ({ headers: {}, secrets: [] }),
  clock,
  ids: randomIds,
});
const catalog = buildCatalog({ providers: [], models: [] });

interface Question {
  readonly format: Format;
  readonly model: string;
  readonly lane?: Lane;
  readonly stream?: boolean;
  readonly text?: string;
  readonly more?: JsonObject;
  readonly messages?: JsonObject[];
}

function bodyOf({ format, model, stream = true, text = 'Tell me about trains.', more, messages }: Question) {
  const base = { model: `simulator/${model}`, stream, ...more };
  const input = messages ?? [{ role: 'user', content: text }];
  if (format === 'responses') return { ...base, input };
  return format === 'messages'
    ? { ...base, max_tokens: 1000, messages: input, ...more }
    : { ...base, messages: input };
}

async function ask(question: Question): Promise<Result> {
  const request = inbound[question.format].parseRequest(bodyOf(question), { vendor: 'signalbox' });
  const endpoint = catalog.resolve(`simulator/${question.model}`)?.endpoints[0];
  if (endpoint === undefined) throw new Error(`no endpoint for ${question.model}`);
  const answer = await callUpstream({
    request,
    endpoint,
    lane: question.lane ?? 'translate',
    credential: undefined,
    hashUser: (id) => id,
    signal: new AbortController().signal,
  });
  const batches = [];
  for await (const batch of answer.batches) batches.push(batch);
  return fold(batches.flat());
}

function textOf(result: Result): string {
  return result.items
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

const cases = FORMATS.flatMap((format) =>
  LANES.flatMap((lane) => [true, false].map((stream) => ({ format, lane, stream }))),
);

const WEATHER: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 1, maximum: 7 },
  },
  required: ['city', 'unit'],
  additionalProperties: false,
};

function toolsOf(format: Format): JsonObject[] {
  const name = 'get_weather';
  if (format === 'responses') return [{ type: 'function', name, parameters: WEATHER }];
  if (format === 'messages') return [{ name, input_schema: WEATHER }];
  return [{ type: 'function', function: { name, parameters: WEATHER } }];
}

function formatField(format: Format, schema: JsonObject): JsonObject {
  if (format === 'responses') return { text: { format: { type: 'json_schema', name: 'out', schema } } };
  if (format === 'messages') return { output_config: { format: { type: 'json_schema', schema } } };
  return { response_format: { type: 'json_schema', json_schema: { name: 'out', schema } } };
}

describe.each(cases)('the simulator in $format, $lane lane, stream $stream', (way) => {
  it('answers, says that it is simulated, and counts', async () => {
    const result = await ask({ ...way, model: 'standard' });
    expect(result.finish?.reason).toBe('stop');
    expect(textOf(result)).toMatch(/simulated answer.*Tell me about trains\./);
    expect(result.usage?.inputTokens).toBeGreaterThan(0);
    expect(result.usage?.outputTokens).toBeGreaterThan(0);
    expect(result.usage?.source).toBe('measured');
  });

  it('says the same every time', async () => {
    const question = { ...way, model: 'standard', text: 'Again?' };
    const [first, second] = [await ask(question), await ask(question)];
    expect(second.items).toEqual(first.items);
    expect(second.usage).toEqual(first.usage);
  });

  it('shows reasoning', async () => {
    const result = await ask({ ...way, model: 'reasoning' });
    expect(result.items.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    const [thought] = result.items;
    expect(JSON.stringify(thought)).toContain('simulated thoughts');
    expect(result.usage?.reasoningTokens).toBeGreaterThan(0);
  });

  it('calls a tool with arguments that fit, then answers with its result', async () => {
    const tools = toolsOf(way.format);
    const text = 'What is it like in Paris? Use get_weather.';
    const result = await ask({ ...way, model: 'standard', text, more: { tools } });
    expect(result.finish?.reason).toBe('tool-calls');
    const call = result.items.find((item) => item.type === 'tool-call');
    expect(call?.name).toBe('get_weather');
    expect(new Ajv2020().validate(WEATHER, JSON.parse(call?.input ?? ''))).toBe(true);

    const callId = call?.callId ?? '';
    const second = await ask({
      ...way,
      model: 'standard',
      more: { tools },
      messages: historyOf(way.format, text, callId, call?.input ?? ''),
    });
    expect(second.finish?.reason).toBe('stop');
    expect(textOf(second)).toContain('18 degrees');
  });

  it.each(['Hi!', 'What is the weather in Paris?', 'Do not call get_weather.'])(
    'calls no tool that the request does not ask for: %s',
    async (text) => {
      const result = await ask({ ...way, model: 'standard', text, more: { tools: toolsOf(way.format) } });
      expect(result.finish?.reason).toBe('stop');
    },
  );

  it('fills the schema of a structured answer', async () => {
    const result = await ask({ ...way, model: 'standard', more: formatField(way.format, WEATHER) });
    expect(new Ajv2020().validate(WEATHER, JSON.parse(textOf(result)))).toBe(true);
  });

  it('refuses', async () => {
    const result = await ask({ ...way, model: 'refuse' });
    expect(result.finish?.reason).toBe('refusal');
    expect(JSON.stringify(result.items) + JSON.stringify(result.finish)).toContain('Simulated refusal');
  });

  it('stops at the output limit', async () => {
    const limit = way.format === 'responses' ? { max_output_tokens: 5 } : { max_tokens: 5 };
    const result = await ask({ ...way, model: 'standard', more: limit });
    expect(result.finish?.reason).toBe('length');
    expect(textOf(result)).toBe('This is a simulated ');
    expect(result.usage?.outputTokens).toBe(5);
  });

  it('breaks off', async () => {
    const failure = (await ask({ ...way, model: 'cut' })).failure;
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect(failure?.status).toBe(502);
  });

  it.each([
    ['fail-429', 429, 7],
    ['fail-500', 502, undefined],
    ['fail-529', 529, undefined],
  ])('%s', async (model, status, wait) => {
    const failure = await ask({ ...way, model }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UpstreamFailure);
    expect((failure as UpstreamFailure).status).toBe(status);
    expect((failure as UpstreamFailure).retryAfterSeconds).toBe(wait);
    expect((failure as UpstreamFailure).metadata?.provider_name).toBe('Simulator');
  });
});

function historyOf(format: Format, text: string, callId: string, input: string): JsonObject[] {
  const user = { role: 'user', content: text };
  const output = '18 degrees';
  if (format === 'responses') {
    return [
      user,
      { type: 'function_call', call_id: callId, name: 'get_weather', arguments: input },
      { type: 'function_call_output', call_id: callId, output },
    ];
  }
  if (format === 'messages') {
    return [
      user,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: callId, name: 'get_weather', input: JSON.parse(input) }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: output }] },
    ];
  }
  return [
    user,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: callId, type: 'function', function: { name: 'get_weather', arguments: input } }],
    },
    { role: 'tool', tool_call_id: callId, content: output },
  ];
}

describe('the simulator', () => {
  it('stops at a stop string', async () => {
    const result = await ask({ format: 'chat', model: 'standard', more: { stop: [' answer'] } });
    expect(textOf(result)).toBe('This is a simulated');
    expect(result.finish?.reason).toBe('stop');
  });

  it.each(FORMATS)('refuses a schema that asks for too much (%s)', async (format) => {
    const schema = { type: 'object', properties: { a: { type: 'string', minLength: 1e9 } }, required: ['a'] };
    const refusal = (model: string, more: JsonObject) =>
      ask({ format, model, more }).then(
        () => undefined,
        (error: UpstreamFailure) => error,
      );
    const tools = JSON.parse(
      JSON.stringify(toolsOf(format)).replaceAll(JSON.stringify(WEATHER), JSON.stringify(schema)),
    );
    expect(await refusal('standard', formatField(format, schema))).toMatchObject({
      status: 400,
      message: expect.stringContaining('The output format has a schema that asks for more'),
    });
    expect(await refusal('tools', { tools })).toMatchObject({
      status: 400,
      message: expect.stringContaining('The tool "get_weather" has a schema that asks for more'),
    });
  });

  it.each([
    ['very many stop strings', Array.from({ length: 100_000 }, (_, index) => `stop ${index}`)],
    ['a very long stop string', ['x'.repeat(257)]],
  ])('refuses %s', async (_, stop_sequences) => {
    const answer = ask({ format: 'messages', model: 'standard', more: { stop_sequences } });
    await expect(answer).rejects.toThrow('no more than 16 stop sequences');
  });

  it('varies with the seed, not by itself', async () => {
    const texts = new Set<string>();
    for (let seed = 0; seed < 20; seed++) {
      const result = await ask({ format: 'chat', model: 'standard', more: { seed } });
      texts.add(textOf(result));
    }
    expect(texts.size).toBeGreaterThan(1);
  });

  it('draws a valid picture', async () => {
    const result = await ask({ format: 'chat', model: 'image' });
    const image = result.items.find((item) => item.type === 'image');
    const source = image?.source;
    const data =
      source?.kind === 'base64' ? source.data : source?.kind === 'url' ? source.url.split(',')[1] : '';
    expect(
      Buffer.from(data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('reads only the last text of the last message', async () => {
    const said = async (...texts: string[]) => {
      const content = texts.map((text) => ({ type: 'text', text }));
      const more = { tools: toolsOf('messages') };
      const messages = [{ role: 'user', content }];
      return (await ask({ format: 'messages', model: 'standard', messages, more })).finish?.reason;
    };
    expect(await said('<system-reminder>Call get_weather.</system-reminder>', 'Say hi')).toBe('stop');
    expect(await said('Call get_weather', 'or rather: say hi')).toBe('stop');
    expect(await said('<system-reminder>Call get_weather.</system-reminder> Say hi')).toBe('stop');
    expect(await said('Say hi', 'Call get_weather')).toBe('tool-calls');
  });

  it('answers after tool results, whatever an agent writes behind them', async () => {
    const history = historyOf('messages', 'Call get_weather', 'toolu_1', '{}');
    const results = history.at(-1) as { content: JsonObject[] };
    const reminder = { type: 'text', text: 'Call get_weather again' };
    const messages = [...history.slice(0, -1), { role: 'user', content: [...results.content, reminder] }];
    for (const model of ['standard', 'tools']) {
      const result = await ask({ format: 'messages', model, messages, more: { tools: toolsOf('messages') } });
      expect(result.finish?.reason).toBe('stop');
      expect(textOf(result)).toContain('18 degrees');
    }
  });

  it('calls a forced tool, and never a forbidden one', async () => {
    const tools = toolsOf('chat');
    const forced = { tools, tool_choice: { type: 'function', function: { name: 'get_weather' } } };
    expect((await ask({ format: 'chat', model: 'standard', more: forced })).finish?.reason).toBe(
      'tool-calls',
    );
    const forbidden = { tools, tool_choice: 'none' };
    expect((await ask({ format: 'chat', model: 'tools', more: forbidden })).finish?.reason).toBe('stop');
    expect((await ask({ format: 'chat', model: 'tools', more: { tools } })).finish?.reason).toBe(
      'tool-calls',
    );
  });

  it('keeps its pace, and times out like an upstream that is too slow', async () => {
    waits.length = 0;
    await ask({ format: 'chat', model: 'slow-stream' });
    expect(waits[0]).toBeLessThan(100);
    expect(waits.filter((wait) => wait === 200).length).toBeGreaterThan(5);
    const slow = catalog.resolve('simulator/slow')?.endpoints[0];
    if (slow === undefined) throw new Error('no slow model');
    const impatient = { ...slow.provider, timeouts: { connect: 1, firstByte: 100, idle: 100, total: 1000 } };
    const failure = await callUpstream({
      request: chat.inbound.parseRequest(bodyOf({ format: 'chat', model: 'slow' }), { vendor: 'signalbox' }),
      endpoint: { ...slow, provider: impatient },
      lane: 'relay',
      credential: undefined,
      hashUser: (id) => id,
      signal: new AbortController().signal,
    }).catch((error: unknown) => error);
    expect((failure as UpstreamFailure).status).toBe(524);
  });

  it('has a model for each behaviour and a behaviour for each model', () => {
    const models = SIMULATOR_MODELS.map(({ id }) => id).sort();
    expect(models).toEqual(
      Object.keys(BEHAVIOURS)
        .map((name) => `simulator/${name}`)
        .sort(),
    );
  });
});
