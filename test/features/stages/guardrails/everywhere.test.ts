import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { AnswerFilter } from '../../../../src/stages/guardrails/answer/answer-filter.ts';
import { GuardrailScan } from '../../../../src/stages/guardrails/guardrail-scan.ts';
import { pdfOf } from '../../../kit/builders/pdf.ts';
import {
  chatAnswer as plainAnswer,
  messagesAnswer as plainMessage,
  sse,
} from '../../../kit/fakes/answers.ts';
import { end, head, JSON_TYPE, reply, type Script, SSE, write } from '../../../kit/fakes/fake-upstream.ts';
import { awsEvent } from '../../../kit/fixtures/bedrock/aws-events.ts';
import { bedrockAnswer } from '../../../laws/matrix/answers/bedrock.ts';
import { chatAnswer } from '../../../laws/matrix/answers/chat.ts';
import { geminiAnswer } from '../../../laws/matrix/answers/gemini.ts';
import { responsesAnswer, said } from '../../../laws/matrix/answers/responses.ts';
import type { WireAnswer } from '../../../laws/matrix/answers/wire-answer.ts';
import { FORMATS, PATHS, WAYS } from '../plugins/formats.ts';
import {
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

let guarded: GuardedGateway;
let key: string;

const AWS = JSON.stringify({ accessKeyId: 'AKID', secretAccessKey: 'aws-secret', region: 'us-east-1' });
const embedding = (id: string, provider: string, model: string) => ({
  id,
  output_modalities: ['embeddings'],
  endpoints: [{ provider, model }],
});

beforeAll(async () => {
  guarded = await openGuardedGateway({
    providers: [
      { slug: 'goo', dialect: 'google-gemini', api_key: 'goo-key' },
      { slug: 'bed', dialect: 'aws-bedrock', api_key: AWS },
    ],
    models: [
      { id: 'm/gemini', endpoints: [{ provider: 'goo', model: 'gemini-3-flash' }] },
      { id: 'm/bedrock', endpoints: [{ provider: 'bed', model: 'anthropic.claude-large-v1:0' }] },
      { id: 'm/small', endpoints: [{ provider: 'openai-chat', model: 'small', context_length: 2000 }] },
      {
        id: 'm/text',
        input_modalities: ['text'],
        endpoints: [{ provider: 'openai-chat', model: 'text' }],
      },
      {
        id: 'm/files',
        input_modalities: ['text', 'file'],
        endpoints: [{ provider: 'openai-chat', model: 'files' }],
      },
      embedding('e/open', 'openai-chat', 'open-v1'),
      embedding('e/gemini', 'goo', 'gemini-embedding-001'),
      embedding('e/titan', 'bed', 'amazon.titan-embed-text-v2:0'),
      embedding('e/cohere', 'bed', 'eu.cohere.embed-v4:0'),
    ],
  });
  key = await guarded.guard({
    content_filter_builtins: [
      { slug: 'email', action: 'redact' },
      { slug: 'ssn', action: 'block' },
    ],
  });
});
beforeEach(() => guarded.upstream.clear());
afterEach(() => vi.restoreAllMocks());
afterAll(() => guarded.close());

const ADDRESS = 'ada@example.com';
const LEAK = /ada@|example\.com/;

/** An answer of the matrix as an upstream sends it. */
function serving({ body, frames }: WireAnswer): Script {
  return ({ json, path }) => {
    if (path.endsWith('/converse-stream')) {
      const bytes = frames.map(({ event = '', data }) => awsEvent(event, JSON.parse(data) as JsonObject));
      return [
        head(200, { 'content-type': 'application/vnd.amazon.eventstream' }),
        write(Buffer.concat(bytes)),
        end(),
      ];
    }
    if (json?.stream === true || path.includes('alt=sse')) {
      return [head(200, SSE), write(sse(frames as never)), end()];
    }
    return [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
  };
}

async function expectAllScanned(answer: { readonly generationId: string }, of = key) {
  const record = await guarded.recordOf(answer, of);
  expectComplete(receiptIn(record));
  expect(guarded.gateway.logged('a guardrail did not scan all of a generation')).toEqual([]);
  return receiptIn(record);
}

const THOUGHT = `It is ${ADDRESS}, I think.`;
const TEXT = `Write to ${ADDRESS}.`;

describe.each(WAYS)('%s, stream %s', (path, stream) => {
  it.each([
    [
      'gemini',
      geminiAnswer([
        { text: THOUGHT, thought: true },
        { text: TEXT },
        { functionCall: { id: 'c1', name: 'look_up', args: { who: ADDRESS } }, thoughtSignature: 'c2Vhb' },
      ]),
    ],
    [
      'bedrock',
      bedrockAnswer(
        [
          { reasoningContent: { reasoningText: { text: THOUGHT, signature: 'c2Vhb' } } },
          { text: TEXT },
          { toolUse: { toolUseId: 'c1', name: 'look_up', input: { who: ADDRESS } } },
        ],
        { stopReason: 'tool_use' },
      ),
    ],
  ])('scans text, thoughts and calls of tools at %s', async (model, answered) => {
    guarded.upstream.answer(serving(answered));
    const body = { model: `m/${model}`, stream, ...FORMATS[path].of(`I am ${ADDRESS}.`) };
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    expect(guarded.upstream.requests[0]?.body).toContain('I am [EMAIL].');
    expect(guarded.upstream.requests[0]?.body).not.toMatch(LEAK);
    expect(shownText(answer)).toContain('Write to [EMAIL].');
    expect(shownText(answer)).toMatch(/who\\?": ?\\?"\[EMAIL\]/);
    expect(answer.text).not.toMatch(LEAK);
    const receipt = await expectAllScanned(answer);
    expect(receipt.characters_received).toBeGreaterThan(THOUGHT.length + TEXT.length);
  });

  it('scans log probabilities, citations and refusals', async () => {
    const LOGPROBS = [{ token: ADDRESS, logprob: -0.1, bytes: [...Buffer.from(ADDRESS)], top_logprobs: [] }];
    const citation = {
      url: 'https://pages.example/',
      title: `Page of ${ADDRESS}`,
      start_index: 0,
      end_index: 5,
    };
    const annotations = [{ type: 'url_citation', url_citation: citation }];
    const answers: [string, WireAnswer][] = [
      ['m/openai-chat', chatAnswer({ content: TEXT, annotations }, { logprobs: { content: LOGPROBS } })],
      ['m/openai-chat', chatAnswer({ content: null, refusal: `Not to ${ADDRESS}.` })],
      [
        'm/openai-responses',
        responsesAnswer([
          {
            type: 'reasoning',
            id: 'rs',
            summary: [{ type: 'summary_text', text: THOUGHT }],
            encrypted_content: 'c2Vhb',
          },
          said(TEXT, { annotations: [{ type: 'url_citation', ...citation }], logprobs: LOGPROBS }),
        ]),
      ],
    ];
    for (const [model, answered] of answers) {
      guarded.upstream.clear();
      guarded.upstream.answer(serving(answered));
      const more = path === '/chat/completions' ? { logprobs: true } : {};
      const answer = await guarded.ask(key, path, { model, stream, ...more, ...FORMATS[path].of('Go') });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain('[EMAIL]');
      expect(answer.text).not.toMatch(LEAK);
      // The bytes of a token tell it too.
      expect(answer.text).not.toContain('97,100,97');
      // Nor does a seal over changed text pass.
      expect(answer.text).not.toContain('c2Vhb');
      await expectAllScanned(answer);
    }
  });

  const withFile = (model: string, type: string, bytes: Buffer) => {
    const data = bytes.toString('base64');
    const url = `data:${type};base64,${data}`;
    const parts = {
      '/chat/completions': { type: 'file', file: { filename: 'a.pdf', file_data: url } },
      '/responses': { type: 'input_file', filename: 'a.pdf', file_data: url },
      '/messages': { type: 'document', source: { type: 'base64', media_type: type, data } },
    };
    const message = { role: 'user', content: [parts[path]] };
    const body = path === '/responses' ? { input: [message] } : { max_tokens: 9, messages: [message] };
    return { model, stream, ...body };
  };
  const PDF = 'application/pdf';

  // The first model takes no files, the second one does.
  it.each(['m/text', 'm/files'])('scans the text of a file before %s gets it', async (model) => {
    guarded.upstream.answer(plainAnswer({ text: 'ok' }));
    const about = (text: string) => withFile(model, PDF, pdfOf(text));
    const redacted = await guarded.ask(key, path, about(`The bill is for ${ADDRESS} alone.`));
    expect(redacted.status, redacted.text).toBe(200);
    expect(guarded.upstream.requests[0]?.body).toContain('The bill is for [EMAIL] alone.');
    expect(guarded.upstream.requests[0]?.body).not.toContain('JVBERi');
    await expectAllScanned(redacted);
    const blocked = await guarded.ask(key, path, about('Number 078-05-1120.'));
    expect(blocked.status).toBe(403);
    expect(guarded.upstream.requests.length).toBe(1);
    if (path === '/messages') return;
    // A PDF by what is in it, whatever it says that it is.
    const late = Buffer.concat([Buffer.from('\0\n'), pdfOf('Number 078-05-1120.')]);
    const disguised = await guarded.ask(key, path, withFile(model, 'application/octet-stream', late));
    expect(disguised.status).toBe(403);
    expect(guarded.upstream.requests.length).toBe(1);
  });

  it('lets a harmless file go to a model that takes files, and tells of one that it cannot scan', async () => {
    guarded.upstream.answer(plainAnswer({ text: 'ok' }));
    const unscanned = () => guarded.metric('signalbox_guardrail_unscanned_total{direction="sent"}');
    const before = await unscanned();
    const harmless = pdfOf('Nothing in here.');
    const passed = await guarded.ask(key, path, withFile('m/files', PDF, harmless));
    expect(passed.status, passed.text).toBe(200);
    expect(guarded.upstream.requests[0]?.body).toContain(harmless.toString('base64'));
    const scans = async (reply: typeof passed) =>
      stagesIn(await guarded.recordOf(reply, key)).filter(({ name }) => name === 'file-scan');
    expect(await scans(passed)).toMatchObject([{ data: { sent_as: 'file', files: [{ characters: 16 }] } }]);
    expect(await unscanned()).toBe(before);
    if (path === '/messages') return;
    guarded.upstream.answer(plainAnswer({ text: 'ok' }));
    const other = await guarded.ask(key, path, withFile('m/files', 'application/zip', Buffer.from('PK..')));
    expect(other.status, other.text).toBe(200);
    expect(await scans(other)).toMatchObject([{ data: { action: 'passed', unscanned: ['a.pdf'] } }]);
    expect(await unscanned()).toBe(before + 1);
  });

  it('has a whole receipt after a prompt was shortened', async () => {
    guarded.upstream.answer(plainAnswer({ text: 'ok' }));
    const turns = Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index} by ${ADDRESS}: ${'word '.repeat(index === 58 ? 900 : 60)}`,
    }));
    const last = { role: 'user', content: 'The question?' };
    const body =
      path === '/responses' ? { input: [...turns, last] } : { max_tokens: 50, messages: [...turns, last] };
    const answer = await guarded.ask(key, path, { model: 'm/small', stream, ...body });
    expect(answer.status, answer.text).toBe(200);
    const sent = guarded.upstream.requests[0]?.body ?? '';
    expect(sent).not.toMatch(LEAK);
    expect(sent).toContain('[EMAIL]');
    expect(sent).not.toContain('30 by');
    await expectAllScanned(answer);
  });
});

it.each([
  [
    'e/open',
    () =>
      reply(200, {
        data: [
          { index: 0, embedding: [1, 2] },
          { index: 1, embedding: [3, 4] },
        ],
        usage: {},
      }),
  ],
  ['e/gemini', () => reply(200, { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })],
  ['e/titan', () => reply(200, { embedding: [1, 2], inputTextTokenCount: 2 })],
  [
    'e/cohere',
    () =>
      reply(200, {
        embeddings: {
          float: [
            [1, 2],
            [3, 4],
          ],
        },
      }),
  ],
])('scans the inputs of embeddings at %s', async (model, answered) => {
  guarded.upstream.answer(answered());
  const input = [`I am ${ADDRESS}.`, 'And more.'];
  const answer = await guarded.ask(key, '/embeddings', { model, input });
  expect(answer.status, answer.text).toBe(200);
  const sent = guarded.upstream.requests.map(({ body }) => body).join();
  expect(sent).toContain('I am [EMAIL].');
  expect(sent).not.toMatch(LEAK);
  await expectAllScanned(answer);
  const count = guarded.upstream.requests.length;
  const refused = await guarded.ask(key, '/embeddings', { model, input: ['It is 078-05-1120'] });
  expect(refused.status).toBe(403);
  expect(guarded.upstream.requests.length).toBe(count);
});

it('takes no tokens for embeddings: nothing can be found in them', async () => {
  const answer = await guarded.ask(key, '/embeddings', { model: 'e/open', input: [[1, 2, 3]] });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.error.metadata.issues).toEqual([
    { path: 'input', message: expect.stringContaining('must be texts') },
  ]);
  expect(guarded.upstream.requests).toEqual([]);
});

it('redacts short numbers in the input of tools', async () => {
  const pins = await guarded.guard({
    content_filters: [{ pattern: '[0-9]{4,6}', action: 'redact', label: 'PIN' }],
  });
  guarded.upstream.answer(plainAnswer({ tools: [{ name: 'open', arguments: '{"pin": 4711, "n": 123}' }] }));
  const answer = await guarded.ask(pins, '/chat/completions', {
    model: 'm/openai-chat',
    ...FORMATS['/chat/completions'].of('Open it.'),
  });
  expect(answer.body.choices[0].message.tool_calls[0].function.arguments).toBe('{"pin": "[PIN]", "n": 123}');
});

it('sends no seal over a thought that was redacted', async () => {
  guarded.upstream.answer(plainMessage({ reasoning: THOUGHT, text: 'Fine.' }));
  const model = 'm/anthropic-messages';
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 };
  const question = { role: 'user', content: 'Go' };
  const first = await guarded.ask(guarded.gateway.apiKey, '/messages', {
    model,
    ...thinking,
    messages: [question],
  });
  const { content } = first.body;
  expect(content[0]).toMatchObject({ type: 'thinking', thinking: THOUGHT });
  const messages = [question, { role: 'assistant', content }, { role: 'user', content: 'And?' }];
  const sentBy = async (by: string) => {
    guarded.upstream.clear();
    guarded.upstream.answer(plainMessage({ text: 'Fine.' }));
    const answer = await guarded.ask(by, '/messages', { model, ...thinking, messages });
    expect(answer.status, answer.text).toBe(200);
    return guarded.upstream.requests[0]?.body ?? '';
  };
  expect(await sentBy(guarded.gateway.apiKey)).toContain('sealed-by-fake');
  const sent = await sentBy(key);
  expect(sent).not.toContain('sealed-by-fake');
  expect(sent).not.toMatch(LEAK);
});

describe('a scanner that does not scan', () => {
  const warnings = () => guarded.gateway.logged('a guardrail did not scan all of a generation').length;
  const count = (direction: string) =>
    guarded.metric(`signalbox_guardrail_unscanned_total{direction="${direction}"}`);

  it.each(PATHS.flatMap((path) => [false, true].map((stream) => [path, stream] as const)))(
    'is noticed on %s, stream %s',
    async (path, stream) => {
      const body = { model: 'm/openai-chat', stream, ...FORMATS[path].of(`I am ${ADDRESS}.`) };
      const ask = async () => {
        guarded.upstream.clear();
        guarded.upstream.answer(plainAnswer({ text: TEXT }));
        const answer = await guarded.ask(key, path, body);
        expect(answer.status, answer.text).toBe(200);
        return receiptIn(await guarded.recordOf(answer, key));
      };
      const before = [await count('sent'), await count('received'), warnings()];
      vi.spyOn(GuardrailScan.prototype, 'request').mockImplementation(async (request) => request);
      const sent = await ask();
      expect(sent.characters_sent_scanned).toBeLessThan(sent.characters_sent);
      expect(sent.characters_received_scanned).toBe(sent.characters_received);
      vi.restoreAllMocks();
      vi.spyOn(AnswerFilter.prototype, 'push').mockImplementation((batch) => [...batch]);
      const received = await ask();
      expect(received.characters_sent_scanned).toBe(received.characters_sent);
      expect(received.characters_received_scanned).toBe(0);
      expect(received.characters_received).toBe(TEXT.length);
      const [sentBefore = 0, receivedBefore = 0, warningsBefore = 0] = before;
      expect([await count('sent'), await count('received'), warnings()]).toEqual([
        sentBefore + 1,
        receivedBefore + 1,
        warningsBefore + 2,
      ]);
    },
  );
});
