import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { chatAnswer } from '../../kit/fakes/answers.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one' }] }],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const plugins = [{ id: 'response-healing' }];

/** The same wish in the three formats, and where the text of the answer stands. */
const FORMATS = {
  '/chat/completions': {
    body: {
      messages: [{ role: 'user', content: 'x' }],
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
    },
    textOf: (answer: any) => answer.choices[0].message.content,
  },
  '/responses': {
    body: { input: 'x', text: { format: { type: 'json_schema', name: 'person', schema } } },
    textOf: (answer: any) => answer.output[0].content[0].text,
  },
  '/messages': {
    body: {
      max_tokens: 99,
      messages: [{ role: 'user', content: 'x' }],
      output_config: { format: { type: 'json_schema', schema } },
    },
    textOf: (answer: any) => answer.content[0].text,
  },
} as const;
type Path = keyof typeof FORMATS;

async function ask(path: Path, more: object = {}) {
  const response = await gateway.post(
    path,
    { model: 'm/one', plugins, ...FORMATS[path].body, ...more },
    { 'x-signalbox-metadata': 'enabled' },
  );
  const answer = (await response.json()) as any;
  return { status: response.status, answer, metadata: answer.signalbox_metadata };
}

it.each(Object.keys(FORMATS) as Path[])('makes JSON of answers on %s and says so', async (path) => {
  upstream.answer(chatAnswer({ text: 'Here you are:\n```json\n{name: "Ada", age: 36,}\n```' }));
  const { status, answer, metadata } = await ask(path);
  expect(status).toBe(200);
  expect(JSON.parse(FORMATS[path].textOf(answer))).toEqual({ name: 'Ada', age: 36 });
  expect(metadata.pipeline).toContainEqual(
    expect.objectContaining({
      type: 'response_healing',
      name: 'response-healing',
      data: expect.objectContaining({ mode: 'json_schema', improved: true }),
    }),
  );
});

it.each([
  ['is JSON already', { text: '{"name": "Ada", "age": 36}' }],
  ['was cut off', { text: '{"name": "Ada", "age', finish: 'length' as const }],
])('leaves an answer unchanged that %s', async (_, content) => {
  upstream.answer(chatAnswer(content));
  const { answer, metadata } = await ask('/chat/completions');
  expect(FORMATS['/chat/completions'].textOf(answer)).toBe(content.text);
  expect(metadata.pipeline ?? []).toEqual([]);
});

it('leaves an answer unchanged that cannot be made to fit its schema, and reports it', async () => {
  upstream.answer(chatAnswer({ text: '{name: "Ada"}' }));
  const { answer, metadata } = await ask('/chat/completions');
  expect(FORMATS['/chat/completions'].textOf(answer)).toBe('{name: "Ada"}');
  expect(metadata.pipeline[0].data).toMatchObject({ improved: false });
});

it('asks for an object if any JSON is wanted', async () => {
  upstream.answer(chatAnswer({ text: "{'a': True}" }));
  const { answer } = await ask('/chat/completions', { response_format: { type: 'json_object' } });
  expect(JSON.parse(FORMATS['/chat/completions'].textOf(answer))).toEqual({ a: true });
});

it.each([
  ['streams', { stream: true }],
  ['text', { response_format: undefined }],
])('does not work on %s, and the report says so', async (_, more) => {
  upstream.answer(chatAnswer({ text: '{a: 1}' }));
  const response = await gateway.post(
    '/chat/completions',
    { model: 'm/one', plugins, ...FORMATS['/chat/completions'].body, ...more },
    { 'x-signalbox-metadata': 'enabled' },
  );
  expect(await response.text()).toContain('it works on whole answers alone that are asked to be JSON');
});

it('is charged and recorded like any answer, and can be switched off', async () => {
  upstream.answer(chatAnswer({ text: '{a: 1}', usage: { input: 9, output: 4 } }));
  const off = await ask('/chat/completions', { plugins: [{ id: 'response-healing', enabled: false }] });
  expect(FORMATS['/chat/completions'].textOf(off.answer)).toBe('{a: 1}');
  const { answer } = await ask('/chat/completions', { response_format: { type: 'json_object' } });
  expect(answer.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 4 });
});
