import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { messagesAnswer, responsesBody, sse } from '../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  type Script,
  SSE,
  stall,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';
import { openTestGateway, readEvents, type TestGateway } from '../../kit/gateway-harness.ts';
import { managementOf } from '../../kit/management.ts';

const HOUR_MS = 3_600_000;
const MAX_BODY_BYTES = 100_000;
const ITEM_BYTES = 400_000;

let upstream: FakeUpstream;
let gateway: TestGateway;
/** A second key of the account, and one of another account. */
let secondKey: string;
let strangersKey: string;
const clock = new HandClock();

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const provider = (slug: string, dialect: string) => ({
    slug,
    dialect,
    base_url: upstream.url,
    api_key: 'k',
    data_policy: { training: false, retains_prompts: false },
  });
  const model = (id: string, slug: string) => ({ id, endpoints: [{ provider: slug, model: 'm' }] });
  gateway = await openTestGateway(
    {
      server: { max_body_bytes: MAX_BODY_BYTES },
      retention: { output_items_bytes: ITEM_BYTES },
      providers: [provider('relayed', 'openai-responses'), provider('translated', 'anthropic-messages')],
      models: [model('up/relayed', 'relayed'), model('up/translated', 'translated')],
      prompts: { greet: { input: 'Greet {{who}}' } },
      presets: { brief: { instructions: 'Be brief.' } },
    },
    { itemClock: clock, times: { holdHeadersMs: 150 } },
  );
  const management = managementOf(gateway);
  secondKey = (await management.ask('POST', '/keys', { name: 'second' })).body.key;
  const stranger = await management.command('accounts.create', { name: 'stranger' });
  strangersKey = (await management.ask('POST', '/keys', { name: 'k' }, stranger.management_key)).body.key;
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});
beforeEach(() => upstream.clear());

const user = (content: string) => ({ type: 'message', role: 'user', content });
const reference = (id: string) => ({ type: 'item_reference', id });

let made = 0;
/** An id that no other test has. */
const fresh = (prefix: string) => `${prefix}_ref_${made++}`;

function message(text: string, id = fresh('msg')) {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id, type: 'message', role: 'assistant', status: 'completed', content };
}

/** An answer of an upstream of the responses dialect with these items, whole or streamed. */
function answerOf(...output: object[]): Script {
  const whole = { ...responsesBody({}), output };
  const begun = { ...whole, status: 'in_progress', output: [], usage: null };
  const frames = [
    { type: 'response.created', response: begun },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: whole },
  ].map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
  return ({ json }) =>
    json.stream === true
      ? [head(200, SSE), write(sse(frames)), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(whole)), end()];
}

/** The beginning of a stream that ends inside a message, with the id of the message. */
function halfAMessage() {
  const item = { ...message(''), status: 'in_progress', content: [] };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  const frames = [
    { type: 'response.created', response: { ...responsesBody({}), status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...place, part },
    { type: 'response.output_text.delta', ...place, delta: 'Half a', logprobs: [] },
  ].map((data) => ({ event: data.type, data }));
  return [item.id, frames] as const;
}

async function ask(body: object, key = gateway.apiKey, model = 'up/relayed') {
  const response = await gateway.fetch('/responses', {
    method: 'POST',
    key,
    body: JSON.stringify({ model, ...body }),
    headers: { 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as any };
}

/** Has items given to a key; the ids under which it was. */
async function given(output: object[], { key = gateway.apiKey, stream = false, settings = {} } = {}) {
  upstream.answer(answerOf(...output));
  const body = JSON.stringify({ model: 'up/relayed', input: 'Hello', stream, ...settings });
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch('/responses', { method: 'POST', key, body, headers });
  expect(response.status).toBe(200);
  const result = stream
    ? (await readEvents(response)).findLast(({ data }) => data.type === 'response.completed')?.data.response
    : await response.json();
  upstream.clear();
  return (result as any).output.map(({ id }: any) => id as string) as string[];
}

/** Names an id in a request; what was answered. */
function naming(id: string, key?: string) {
  upstream.answer(answerOf(message('Well.')));
  return ask({ input: [user('Hello'), reference(id), user('Again')] }, key);
}

const REFUSED = {
  status: 400,
  body: {
    error: {
      code: 400,
      message:
        'input[1].id: names no output item that this key was given within the last hour: send the item itself (store: false)',
    },
  },
};

describe.each([false, true])('a reference to an item of an answer (streamed: %s)', (stream) => {
  it('is sent as the item in the relay lane, at its place among others', async () => {
    const first = message('First words');
    const thoughts = {
      id: fresh('rs'),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'c2VhbGVk/+==',
    };
    const call = {
      id: fresh('ctc'),
      type: 'custom_tool_call',
      call_id: 'call_1',
      name: 'patch',
      input: '*** Begin',
      status: 'completed',
    };
    const search = {
      id: fresh('ws'),
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'weather', queries: ['weather'] },
    };
    const items = [first, thoughts, search, call];
    const ids = await given(items, { stream });
    expect(ids).toEqual(items.map(({ id }) => id));
    upstream.answer(answerOf(message('Well.')));
    const output = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' };
    const [said, thought, searched, called] = ids.map(reference);
    const input = [user('Hello'), said, user('Do it'), thought, searched, called, output];
    expect(await ask({ input })).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.json.input).toEqual([
      user('Hello'),
      first,
      user('Do it'),
      thoughts,
      search,
      call,
      output,
    ]);
  });

  it('is found although the next request goes to another dialect', async () => {
    const [id] = await given([message('First words')], { stream });
    upstream.answer(messagesAnswer({ text: 'Well.' }));
    const body = { input: [user('Hello'), reference(id ?? ''), user('Again')] };
    expect(await ask(body, undefined, 'up/translated')).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.json.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', text: 'First words' }] },
      { role: 'user' },
    ]);
  });

  it('is refused for a request that asked for zero retention', async () => {
    const [id] = await given([message('Secret')], { stream, settings: { provider: { zdr: true } } });
    expect(await naming(id ?? '')).toMatchObject(REFUSED);
    expect(upstream.requests).toEqual([]);
  });

  it('is replaced in a request that itself asks for zero retention', async () => {
    const [id] = await given([message('Open')], { stream });
    upstream.answer(answerOf(message('Well.')));
    const body = { input: [reference(id ?? ''), user('Again')], provider: { zdr: true }, stream: false };
    expect(await ask(body)).toMatchObject({ status: 200 });
  });
});

describe('references', () => {
  it('to an unknown id are refused without an upstream call', async () => {
    expect(await naming('msg_unknown')).toMatchObject(REFUSED);
    expect(upstream.requests).toEqual([]);
  });

  it('to an item of another key are refused in the same words as an unknown id', async () => {
    const [id] = await given([message('Mine')]);
    for (const key of [secondKey, strangersKey]) {
      const refused = await naming(id ?? '', key);
      expect(refused).toMatchObject(REFUSED);
      const unknown = await naming('msg_unknown', key);
      expect({ ...refused.body, id: 0 }).toEqual({ ...unknown.body, id: 0 });
    }
    expect(await naming(id ?? '')).toMatchObject({ status: 200 });
  });

  it('are refused an hour after the item was given', async () => {
    const [id] = await given([message('Old')]);
    clock.pass(HOUR_MS - 1);
    expect(await naming(id ?? '')).toMatchObject({ status: 200 });
    clock.pass(1);
    expect(await naming(id ?? '')).toMatchObject(REFUSED);
  });

  it('to an id that was given twice, for different items, are refused', async () => {
    const id = fresh('msg');
    await given([message('One', id)]);
    await given([message('Other', id)]);
    expect(await naming(id)).toMatchObject(REFUSED);
  });

  it('that cannot be replaced are all listed, with everything else that needs stored state', async () => {
    const [id] = await given([message('Known')]);
    const { status, body } = await ask({
      input: [user('x'), reference(id ?? ''), reference('msg_a'), user('y'), reference('msg_b')],
      previous_response_id: 'resp_1',
      background: true,
    });
    expect(status).toBe(400);
    expect(body.error.metadata.issues.map(({ path }: any) => path)).toEqual([
      'background',
      'previous_response_id',
      'input[2].id',
      'input[4].id',
    ]);
    expect(await ask({ input: [reference(id ?? '')], store: true })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('store') } },
    });
    expect(upstream.requests).toEqual([]);
  });

  it('are numbered in the caller’s own input if a template stands before it', async () => {
    const said = message('Known');
    const [id] = await given([said]);
    upstream.answer(answerOf(message('Well.')));
    const settings = { prompt: { id: 'greet', variables: { who: 'Ann' } }, model: 'up/relayed' };
    const filled = await ask({ ...settings, input: [reference(id ?? ''), user('Again')] });
    expect(filled.status).toBe(200);
    expect(upstream.requests[0]?.json.input).toMatchObject([
      { role: 'user', content: [{ text: 'Greet Ann' }] },
      said,
      user('Again'),
    ]);
    const refused = await ask({ ...settings, input: [user('x'), reference('msg_a'), reference('msg_b')] });
    expect(refused.body.error.metadata.issues.map(({ path }: any) => path)).toEqual([
      'input[1].id',
      'input[2].id',
    ]);
  });

  it('are replaced in a body with a preset', async () => {
    const said = message('Known');
    const [id] = await given([said]);
    upstream.answer(answerOf(message('Well.')));
    const body = { input: [reference(id ?? ''), user('Again')], preset: 'brief' };
    expect(await ask(body)).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.json).toMatchObject({
      instructions: 'Be brief.',
      input: [said, user('Again')],
    });
  });

  it('are replaced for an explanation of the routing', async () => {
    const [id = ''] = await given([message('Known')]);
    const explain = async (item: object) => {
      const body = { format: 'responses', model: 'up/relayed', input: [item, user('Again')] };
      const response = await gateway.post('/routing/explain', body);
      return { status: response.status, data: ((await response.json()) as any).data };
    };
    const explained = await explain(reference(id));
    expect(explained).toEqual(await explain(message('Known', id)));
    expect(explained.status).toBe(200);
    expect(await explain(reference('msg_unknown'))).toMatchObject({ status: 400 });
  });

  it('may name an item twice', async () => {
    const said = message('Known');
    const [id = ''] = await given([said]);
    upstream.answer(answerOf(message('Well.')));
    expect(await ask({ input: [reference(id), user('x'), reference(id)] })).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.json.input).toEqual([said, user('x'), said]);
  });

  it('may not exceed the size of a body', async () => {
    const [id = ''] = await given([message('x'.repeat(20_000))]);
    const named = Array.from({ length: 6 }, () => reference(id));
    const { status, body } = await ask({ input: named });
    expect(status).toBe(413);
    expect(body.error.message).toMatch(/^input\[4\]\.id: .*100000 bytes/);
    expect(upstream.requests).toEqual([]);
    upstream.answer(answerOf(message('Well.')));
    expect(await ask({ input: named.slice(0, 4) })).toMatchObject({ status: 200 });
  });

  it('to items that an answer left unfinished are replaced too', async () => {
    const [id, frames] = halfAMessage();
    upstream.answer([head(200, SSE), write(sse(frames)), end()]);
    const response = await gateway.post('/responses', { model: 'up/relayed', input: 'x', stream: true });
    const last = (await readEvents(response)).findLast(({ data }) => data.type === 'response.failed');
    expect(last?.data.response.output).toMatchObject([{ id, status: 'incomplete' }]);
    upstream.clear();
    expect(await naming(id)).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.json.input[1]).toMatchObject({ content: [{ text: 'Half a' }] });
  });

  it('to items that a caller had read in part when it left are replaced too', async () => {
    const [id, frames] = halfAMessage();
    upstream.answer([head(200, SSE), write(sse(frames)), never()]);
    const leaving = new AbortController();
    const response = await gateway.fetch('/responses', {
      method: 'POST',
      body: JSON.stringify({ model: 'up/relayed', input: 'x', stream: true }),
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    const decoder = new TextDecoder();
    let read = '';
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      read += decoder.decode(bytes, { stream: true });
      if (read.includes('Half a')) break;
    }
    leaving.abort();
    upstream.clear();
    await expect.poll(async () => (await naming(id)).status).toBe(200);
    expect(upstream.requests.at(-1)?.json.input[1]).toMatchObject({
      status: 'incomplete',
      content: [{ text: 'Half a' }],
    });
  });

  it('do not hide a failure that is reported in the stream', async () => {
    const [id = ''] = await given([message('Known')]);
    upstream.answer([stall(400), head(500, JSON_TYPE), write('{}'), end()]);
    const input = [reference(id), user('Again')];
    const response = await gateway.post('/responses', { model: 'up/relayed', input, stream: true });
    expect(response.status).toBe(200);
    const events = (await readEvents(response)).filter(({ data }) => data !== '[DONE]');
    expect(events.at(-1)?.data).toMatchObject({ type: 'response.failed' });
  });

  it('find the newest items when many large ones were given, and no more than there is memory for', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 20; index++) ids.push(...(await given([message('y'.repeat(50_000))])));
    const statuses = [];
    for (const id of ids) statuses.push((await naming(id)).status);
    expect(statuses).toEqual([...Array(13).fill(400), ...Array(7).fill(200)]);
  });
});
