import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeUpstream, openFakeUpstream, reply } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { ask, FORMATS, PATHS, type Path } from '../stages/plugins/formats.ts';

/** Prompts that are too long, in the words of the owner of each format: agents compact if they see them. */

let upstream: FakeUpstream;
let gateway: TestGateway;

const DIALECTS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  const providers = Object.entries(DIALECTS).map(([slug, dialect]) => ({
    slug,
    name: slug,
    dialect,
    base_url: upstream.url,
  }));
  const of = (provider: string, context_length: number, more: object = {}) => [
    { provider, model: 'm', context_length, ...more },
  ];
  gateway = await openTestGateway({
    providers,
    models: [
      { id: 'm/large', endpoints: of('chat', 9000) },
      { id: 'm/small', endpoints: of('chat', 2000) },
      { id: 'm/few', endpoints: of('chat', 9000, { max_messages: 1 }) },
      ...Object.keys(DIALECTS).map((slug) => ({ id: `own/${slug}`, endpoints: of(slug, 200_000) })),
    ],
  } as never);
});
beforeEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const isMessages = (path: Path) => path === '/messages';
const long = (path: Path, words: number) => FORMATS[path].of('word '.repeat(words));

describe.each(PATHS)('on %s', (path) => {
  const refusal = async (body: object) => {
    const { status, answer } = await ask(gateway, path, body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ code: 400, metadata: { error_type: 'context_length_exceeded' } });
    return answer.error.message as string;
  };

  it('says so of a prompt that is counted before the call', async () => {
    const message = await refusal({ model: 'm/large', ...long(path, 12_000) });
    expect(message).toMatch(
      isMessages(path)
        ? /^prompt is too long: 12\d\d\d tokens > 9000 maximum\. Shorten the prompt, /
        : /^This model's maximum context length is 9000 tokens\. However, you requested about 12\d\d\d tokens\. /,
    );
  });

  it('says so of a prompt that leaves too little for the output', async () => {
    const limit = path === '/responses' ? { max_output_tokens: 8000 } : { max_tokens: 8000 };
    const message = await refusal({ model: 'm/large', ...long(path, 4000), ...limit });
    expect(message).toMatch(
      isMessages(path)
        ? /^prompt is too long: 40\d\d tokens > 1000 maximum with 8000 of output in a context of 9000\. Ask /
        : /^This model's maximum context length is 9000 tokens\. However, you requested about 120\d\d tokens \(40\d\d in the prompt, 8000 of output\)\. Ask /,
    );
  });

  it('says so where compression does not help', async () => {
    const message = await refusal({ model: 'm/small', ...long(path, 4000) });
    expect(message).toMatch(
      isMessages(path)
        ? /^prompt is too long: 40\d\d tokens > \d+ maximum/
        : /^This model's maximum context length is 2000 tokens\. However, /,
    );
    expect(message).toContain('Context compression cannot make it fit');
  });

  it.each(['m/large', 'm/small'])('explains it in the same words for %s', async (model) => {
    const body = { model, ...long(path, 12_000) };
    const formats = { '/responses': 'responses', '/messages': 'messages', '/chat/completions': 'chat' };
    const explained = await gateway.post('/routing/explain', { format: formats[path], ...body });
    expect(((await explained.json()) as any).data.error).toEqual({
      code: 400,
      message: await refusal(body),
    });
  });

  it('says so of too many messages', async () => {
    const { max_tokens } = long(path, 1) as { max_tokens?: number };
    const messages = Array.from({ length: 3 }, () => ({ role: 'user', content: 'Hi' }));
    const body = path === '/responses' ? { input: messages } : { messages, max_tokens };
    const message = await refusal({ model: 'm/few', ...body });
    expect(message).toBe(
      `${
        isMessages(path)
          ? 'prompt is too long: 3 messages > 1 maximum.'
          : "This model's maximum context length is 1 messages. However, you requested 3 messages."
      } Send fewer, or switch context compression on.`,
    );
  });

  it.each<[keyof typeof DIALECTS, object, number]>([
    [
      'chat',
      {
        error: {
          message:
            "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 tokens.",
          code: 'context_length_exceeded',
        },
      },
      210_000,
    ],
    [
      'messages',
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 210000 tokens > 200000 maximum',
        },
      },
      210_000,
    ],
    [
      'responses',
      {
        error: {
          message: 'Your input exceeds the context window of this model.',
          code: 'context_length_exceeded',
        },
      },
      0,
    ],
  ])('says so of a prompt that a %s upstream refuses', async (slug, body, tokens) => {
    upstream.answer(reply(400, body));
    const message = await refusal({ model: `own/${slug}`, ...FORMATS[path].of('Hi') });
    const known = isMessages(path)
      ? `prompt is too long: ${tokens} tokens > 200000 maximum`
      : "This model's maximum context length is 200000 tokens. However, ";
    const unknown = isMessages(path) ? 'prompt is too long: more than 200000 tokens. Your ' : known;
    expect(message.startsWith(tokens === 0 ? unknown : known)).toBe(true);
    if (tokens > 0) expect(message).toContain(`${tokens}`);
    const own = isMessages(path) ? 'messages' : 'chat';
    if (slug === own) expect(message).toBe((body as any).error.message);
  });
});

describe('on a streamed request', () => {
  it.each([
    ['counted before the call', { model: 'm/large', ...long('/responses', 12_000) }, /9000 tokens\. However/],
    ['refused upstream', { model: 'own/responses', input: 'Hi' }, /200000 tokens\. However.* context window/],
    [
      'refused upstream, with the echo of the request',
      { model: 'own/responses', input: 'Hi', debug: { echo_upstream_body: true } },
      /200000 tokens\. However.* context window/,
    ],
  ])('of /responses, it is answered in the stream: %s', async (_, body, words) => {
    const error = { message: 'Your input exceeds the context window.', code: 'context_length_exceeded' };
    upstream.answer(reply(400, { error }));
    const { status, events } = await ask(gateway, '/responses', { ...body, stream: true });
    expect(status).toBe(200);
    const types = events.flatMap(({ data }) =>
      data?.type === 'response.debug' ? [] : (data?.type ?? 'end'),
    );
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.in_progress', 'response.failed']);
    const { response } = events.find(({ data }) => data?.type === 'response.failed')?.data ?? {};
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'context_length_exceeded', message: expect.stringMatching(words) },
      error_type: 'context_length_exceeded',
    });
    const numbers = events.flatMap(({ data }) => data?.sequence_number ?? []);
    expect(numbers).toEqual(numbers.map((_n, index) => index));
  });

  it.each<Path>(['/chat/completions', '/messages'])('of %s, it is an HTTP error', async (path) => {
    const { status, answer } = await ask(gateway, path, {
      model: 'm/large',
      stream: true,
      ...long(path, 12_000),
    });
    expect(status).toBe(400);
    expect(answer.error.metadata.error_type).toBe('context_length_exceeded');
  });
});
