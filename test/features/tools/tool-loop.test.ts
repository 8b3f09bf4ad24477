import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnswerContent, chatAnswer, messagesAnswer, responsesAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

/** A model for each dialect of upstreams, and its answers. */
const UPSTREAMS = {
  'm/chat': chatAnswer,
  'm/responses': responsesAnswer,
  'm/messages': messagesAnswer,
} as const;
type Model = keyof typeof UPSTREAMS;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const model = (id: string, provider: string) => ({ id, endpoints: [{ provider, model: 'one' }] });
  gateway = await openTestGateway({
    providers: [
      { slug: 'chatter', dialect: 'openai-chat', base_url: upstream.url },
      { slug: 'responder', dialect: 'openai-responses', base_url: upstream.url, api_key: 'k' },
      { slug: 'messenger', dialect: 'anthropic-messages', base_url: upstream.url, api_key: 'k' },
    ],
    models: [model('m/chat', 'chatter'), model('m/responses', 'responder'), model('m/messages', 'messenger')],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const PATHS = ['/chat/completions', '/responses', '/messages'] as const;
type Path = (typeof PATHS)[number];

const QUESTION: Record<Path, object> = {
  '/chat/completions': { messages: [{ role: 'user', content: 'What time is it?' }] },
  '/responses': { input: 'What time is it?' },
  '/messages': { max_tokens: 99, messages: [{ role: 'user', content: 'What time is it?' }] },
};

const DATETIME = { type: 'signalbox:datetime', parameters: { timezone: 'Europe/Berlin' } };

function answers(model: Model, ...contents: AnswerContent[]): void {
  for (const content of contents) upstream.answer(UPSTREAMS[model](content));
}

async function ask(path: Path, model: Model, more: object = {}) {
  const response = await gateway.post(
    path,
    { model, ...QUESTION[path], tools: [DATETIME], ...more },
    { 'x-signalbox-metadata': 'enabled' },
  );
  return { status: response.status, body: (await response.json()) as any };
}

async function stream(path: Path, model: Model, more: object = {}) {
  const body = { model, ...QUESTION[path], tools: [DATETIME], stream: true, ...more };
  return readEvents(await gateway.post(path, body));
}

const CALL = { name: 'datetime', arguments: '{}' };
const TWO_LEGS = [
  { text: 'Let me look.', tools: [{ ...CALL, id: 'call_a' }], usage: { input: 10, output: 5 } },
  { text: 'It is noon.', usage: { input: 20, output: 6 } },
] as const;

const PAIRS = PATHS.flatMap((path) => Object.keys(UPSTREAMS).map((model) => [path, model as Model] as const));

/** The shown text of an answer. */
const textOf: Record<Path, (body: any) => string> = {
  '/chat/completions': (body) => body.choices[0].message.content,
  '/responses': (body) =>
    body.output
      .flatMap((item: any) => item.content ?? [])
      .map((part: any) => part.text)
      .join(''),
  '/messages': (body) => body.content.map((block: any) => block.text ?? '').join(''),
};

describe('one server tool in two legs', () => {
  it.each(PAIRS)('answers %s from %s', async (path, model) => {
    answers(model, ...TWO_LEGS);
    const { status, body } = await ask(path, model);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(textOf[path](body)).toBe('Let me look.It is noon.');
    const [first, second] = upstream.requests.map(({ json }) => JSON.stringify(json));
    expect(first).toContain('Returns the current date and time');
    expect(first).not.toContain('signalbox:');
    expect(second).toMatch(/Europe\/Berlin/);
    expect(second).toMatch(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00/);
    expect(second).toContain('call_a');
    const [note] = body.signalbox_metadata.pipeline;
    expect(note).toMatchObject({ type: 'server_tools', data: { tools: ['datetime'], steps: 1 } });
    expect(body.signalbox_metadata.attempt).toBe(2);
  });

  it.each(PAIRS)('streams %s from %s', async (path, model) => {
    answers(model, ...TWO_LEGS);
    const events = await stream(path, model);
    const text = JSON.stringify(events);
    expect(text).not.toContain('function_call');
    expect(text).not.toContain('"name":"datetime"');
    if (path === '/responses') {
      const types = events.map(({ data }) => data.type ?? data);
      expect(types.filter((type) => type === 'response.created')).toHaveLength(1);
      expect(types.filter((type) => type === 'response.completed')).toHaveLength(1);
      const numbers = events.map(({ data }) => data.sequence_number).filter((each) => each !== undefined);
      expect(numbers).toEqual(numbers.map((_, index) => index));
      const added = events.filter(({ data }) => data.type === 'response.output_item.added');
      expect(added.map(({ data }) => [data.output_index, data.item.type, data.item.status])).toEqual([
        [0, 'message', 'in_progress'],
        [1, 'signalbox:datetime', 'in_progress'],
        [2, 'message', 'in_progress'],
      ]);
      const done = events.filter(({ data }) => data.type === 'response.output_item.done');
      expect(done[1]?.data.item).toMatchObject({
        type: 'signalbox:datetime',
        status: 'completed',
        timezone: 'Europe/Berlin',
        call_id: 'call_a',
      });
      const { output, usage } = events.at(-2)?.data.response ?? {};
      expect(output).toEqual(done.map(({ data }) => data.item));
      expect(usage).toMatchObject({ input_tokens: 30, output_tokens: 11 });
    }
    if (path === '/messages') {
      const starts = events.filter(({ event }) => event === 'content_block_start');
      expect(starts.map(({ data }) => [data.index, data.content_block.type])).toEqual([
        [0, 'text'],
        [1, 'text'],
      ]);
      expect(events.at(-2)?.data.delta.stop_reason).toBe('end_turn');
    }
    if (path === '/chat/completions') {
      const said = events.map(({ data }) => data.choices?.[0]?.delta.content ?? '').join('');
      expect(said).toBe('Let me look.It is noon.');
      expect(events.at(-2)?.data.choices[0].finish_reason).toBe('stop');
    }
  });
});

describe('a request with server tools', () => {
  it.each([
    [{ type: 'signalbox:nothing' }, 'tools[0].type'],
    [{ type: 'signalbox:datetime', parameters: { timezone: 'Moon/Sea' } }, 'tools[0].parameters.timezone'],
    [{ type: 'signalbox:datetime', parameters: { zone: 'UTC' } }, 'tools[0].parameters.zone'],
    [{ type: 'signalbox:datetime', parameters: 3 }, 'tools[0].parameters'],
  ])('is refused for %j', async (tool, path) => {
    for (const format of PATHS) {
      const { status, body } = await ask(format, 'm/chat', { tools: [tool] });
      expect(status).toBe(400);
      expect(body.error.metadata.issues[0].path).toBe(path);
    }
    expect(upstream.requests).toEqual([]);
  });

  it('sends the items of the answer back as a call and its result', async () => {
    answers('m/chat', ...TWO_LEGS, { text: 'Yes.' });
    const { body } = await ask('/responses', 'm/chat');
    const again = { role: 'user', content: 'Sure?' };
    await ask('/responses', 'm/chat', { input: [{ role: 'user', content: 'Time?' }, ...body.output, again] });
    const messages = upstream.requests[2]?.json.messages;
    expect(messages.map(({ role }: any) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
    expect(messages[1].tool_calls[0]).toMatchObject({ id: 'call_a', function: { name: 'datetime' } });
    expect(JSON.parse(messages[2].content)).toMatchObject({ timezone: 'Europe/Berlin' });
  });
});

it.each(PATHS)('a step with calls of both sides is recorded with its leg and call: %s', async (path) => {
  for (const stream of [false, true]) {
    upstream.clear();
    const calls = [
      { name: 'datetime', arguments: '{}', id: 'call_a' },
      { name: 'own', arguments: '{}', id: 'call_b' },
    ];
    upstream.answer(chatAnswer({ tools: calls }));
    const own =
      path === '/responses'
        ? { type: 'function', name: 'own' }
        : path === '/messages'
          ? { name: 'own', input_schema: { type: 'object' } }
          : { type: 'function', function: { name: 'own' } };
    const tools = [{ type: 'signalbox:datetime' }, own];
    const reply = await gateway.post(path, { model: 'm/chat', ...QUESTION[path], tools, stream });
    expect(await reply.text()).toContain('own');
    const id = reply.headers.get('x-generation-id');
    await expect
      .poll(async () => ((await (await gateway.fetch(`/generation?id=${id}`)).json()) as any).data)
      .toMatchObject({
        finish_reason: 'tool_calls',
        legs: [{ kind: 'main', model: 'm/chat', status: 'completed', duration_ms: expect.any(Number) }],
        tool_calls: [{ name: 'datetime', leg: 1, outcome: 'ok', output_characters: expect.any(Number) }],
      });
    expect(upstream.requests).toHaveLength(1);
  }
});
