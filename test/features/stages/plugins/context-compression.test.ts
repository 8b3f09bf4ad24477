import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatAnswer } from '../../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../../kit/gateway-harness.ts';
import { ask, PATHS, type Path, WAYS } from './formats.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const at = (context_length: number, more: object = {}) => ({
    provider: 'acme',
    model: `m${context_length}`,
    context_length,
    ...more,
  });
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [
      { id: 'm/small', endpoints: [at(2000)] },
      { id: 'm/large', endpoints: [at(9000)] },
      {
        id: 'm/three',
        endpoints: [at(8500, { tag: 'acme' }), at(12_000, { tag: 'acme/b' }), at(14_000, { tag: 'acme/c' })],
      },
      { id: 'm/tiny', endpoints: [at(1000), at(1500, { tag: 'acme/b' })] },
      { id: 'm/paint', output_modalities: ['image'], endpoints: [at(2000)] },
      { id: 'm/few', endpoints: [at(100_000, { max_messages: 6 })] },
    ],
  } as never);
});
beforeEach(() => {
  upstream.clear();
  upstream.answer(chatAnswer({ text: 'Hello' }));
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const on = [{ id: 'context-compression' }];
const off = [{ id: 'context-compression', enabled: false }];

/** So many turns of about 110 tokens each, the last a question, in a format. */
function talk(path: Path, turns: number, more: { instructions?: string } = {}) {
  const { instructions = 'Be brief.' } = more;
  const said = Array.from({ length: turns }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `turn${index} ${'word '.repeat(100)}`,
  }));
  const messages = [...said, { role: 'user', content: 'The question?' }];
  if (path === '/responses') return { instructions, input: messages };
  if (path === '/messages') return { max_tokens: 50, system: instructions, messages };
  return { messages: [{ role: 'system', content: instructions }, ...messages] };
}

const sent = () => upstream.requests[0]?.json.messages as { role: string; content: unknown }[];
const sentText = () => JSON.stringify(sent());

describe.each(WAYS)('on %s, streamed: %s', (path, stream) => {
  it('shortens by itself what is too long for a small context', async () => {
    const { status, metadata } = await ask(gateway, path, {
      model: 'm/small',
      stream,
      ...talk(path, 41 - 1),
    });
    expect(status).toBe(200);
    expect(sent()[0]).toMatchObject({ role: 'system' });
    expect(sentText()).toContain('turn0 ');
    expect(sentText()).toContain('turn39 ');
    expect(sentText()).toContain('The question?');
    expect(sentText()).not.toContain('turn20 ');
    const entry = metadata.pipeline.find(({ type }: any) => type === 'context_compression');
    expect(entry).toMatchObject({
      name: 'context-compression',
      data: { engine: 'middle-out', input_type: 'tokens' },
    });
    expect(entry.data.original_count).toBeGreaterThan(4000);
    expect(entry.data.compressed_count).toBeLessThan(2000);
    expect(entry.data.compressed_count).toBeGreaterThan(1000);
  });
});

describe.each(PATHS)('on %s', (path) => {
  const status = async (model: string, more: object, turns = 40) =>
    (await ask(gateway, path, { model, ...talk(path, turns), ...more })).status;

  it('leaves a request alone where it is switched off', async () => {
    expect(await status('m/small', { plugins: off })).toBe(400);
    expect(upstream.requests).toHaveLength(0);
  });

  it('shortens for a larger context only if it is asked to', async () => {
    const { status: without, answer } = await ask(gateway, path, { model: 'm/large', ...talk(path, 100) });
    expect(without).toBe(400);
    expect(answer.error.message).toContain('context compression');
    expect(await status('m/large', { plugins: on }, 100)).toBe(200);
    expect(await status('m/large', { plugins: [{ ...on[0], engine: 'middle-out' }] }, 100)).toBe(200);
  });

  it('refuses instructions and a last message that do not fit', async () => {
    const long = talk(path, 10, { instructions: 'rule '.repeat(3000) });
    const { status: refused, answer } = await ask(gateway, path, { model: 'm/small', ...long });
    expect(refused).toBe(400);
    expect(answer.error.message).toContain('cannot make it fit');
    expect(upstream.requests).toHaveLength(0);
  });

  it('refuses instructions that do not fit if instructions end the conversation too', async () => {
    const long = talk(path, 0, { instructions: 'rule '.repeat(12_000) });
    const ended = { role: path === '/responses' ? 'developer' : 'system', content: 'Note the time.' };
    const more =
      'input' in long ? { input: [...(long.input ?? []), ended] } : { messages: [...long.messages, ended] };
    for (const model of ['m/small', 'm/large']) {
      const { status: refused, answer } = await ask(gateway, path, { model, plugins: on, ...long, ...more });
      expect(refused).toBe(400);
      expect(answer.error.metadata.error_type).toBe('context_length_exceeded');
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('takes endpoints that hold half of what is needed, else the largest', async () => {
    const { metadata } = await ask(gateway, path, { model: 'm/three', plugins: on, ...talk(path, 180) });
    expect(metadata.endpoints.available).toHaveLength(2);
    expect(['m12000', 'm14000']).toContain(upstream.requests[0]?.json.model);
    upstream.requests.length = 0;
    expect(await status('m/tiny', {})).toBe(200);
    expect(upstream.requests[0]?.json.model).toBe('m1500');
  });

  it('keeps half of the messages from each end where there are too many', async () => {
    const { status: given, metadata } = await ask(gateway, path, {
      model: 'm/few',
      plugins: on,
      ...talk(path, 20),
    });
    expect(given).toBe(200);
    expect(sent()).toHaveLength(6);
    expect(sentText()).toMatch(/turn0 .*turn1 .*turn18 .*turn19 .*question/);
    expect(metadata.pipeline).toContainEqual(
      expect.objectContaining({
        data: expect.objectContaining({ input_type: 'messages', original_count: 22 }),
      }),
    );
    expect(await status('m/few', {}, 20)).toBe(400);
  });
});

it('works through truncation of the responses format', async () => {
  const body = { model: 'm/large', ...talk('/responses', 100) };
  expect((await ask(gateway, '/responses', { ...body, truncation: 'auto' })).status).toBe(200);
  expect((await ask(gateway, '/responses', { ...body, truncation: 'disabled' })).status).toBe(400);
  const small = { model: 'm/small', ...talk('/responses', 40) };
  expect((await ask(gateway, '/responses', { ...small, truncation: 'disabled' })).status).toBe(400);
});

it('does not shorten the prompt of a model that makes images alone', async () => {
  const body = { model: 'm/paint', modalities: ['image'], plugins: on, ...talk('/chat/completions', 40) };
  expect((await ask(gateway, '/chat/completions', body)).status).toBe(400);
});

it('never splits a call of a tool from its result', async () => {
  const steps = Array.from({ length: 30 }, (_, index) => [
    {
      role: 'assistant',
      tool_calls: [{ id: `c${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: `c${index}`, content: 'word '.repeat(100) },
  ]);
  const messages = [{ role: 'user', content: 'Go on' }, ...steps.flat(), { role: 'user', content: 'And?' }];
  const { status } = await ask(gateway, '/chat/completions', { model: 'm/small', messages });
  expect(status).toBe(200);
  const kept = sent() as any[];
  const called = kept.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }: any) => id);
  expect(called.length).toBeGreaterThan(3);
  expect(kept.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(called);
});

it('is explained, and counts the whole prompt', async () => {
  const body = { model: 'm/small', ...talk('/responses', 40) };
  const response = await gateway.post('/routing/explain', body);
  const explained = (await response.json()) as any;
  expect(JSON.stringify(explained)).toContain('context_compression');
});
