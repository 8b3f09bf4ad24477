import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DialectName, Format } from '../../src/ir/items.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { runs } from '../kit/builders/runs.ts';
import { end, type FakeUpstream, head, openFakeUpstream, SSE, write } from '../kit/fakes/fake-upstream.ts';
import { awsEvent } from '../kit/fixtures/bedrock/aws-events.ts';
import { openTestGateway, type TestGateway } from '../kit/gateway-harness.ts';
import { bedrockAnswer } from './matrix/answers/bedrock.ts';
import { chatAnswer } from './matrix/answers/chat.ts';
import { geminiAnswer } from './matrix/answers/gemini.ts';
import { messagesAnswer } from './matrix/answers/messages.ts';
import { responsesAnswer, said } from './matrix/answers/responses.ts';
import type { WireAnswer } from './matrix/answers/wire-answer.ts';
import { readReply } from './matrix/read-reply.ts';

/** As large as the signatures of long thoughts. */
const SIGNATURE = randomBytes(150_000).toString('base64');
const THOUGHT = 'Two and two.';

const ITEM_ID = 'rs_of_the_upstream';

/** Thoughts with their seal, an answer, and where the seal stands in the next request to the same upstream. */
const SEALED: Record<
  DialectName,
  { answer: WireAnswer; sealIn: (body: any) => unknown; idIn?: (body: any) => unknown }
> = {
  messages: {
    answer: messagesAnswer([
      { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
      { type: 'text', text: 'Four.' },
    ]),
    sealIn: ({ messages }) => messages[1].content[0].signature,
  },
  responses: {
    answer: responsesAnswer([
      {
        id: ITEM_ID,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: THOUGHT }],
        encrypted_content: SIGNATURE,
      },
      said('Four.'),
    ]),
    sealIn: ({ input }) => input.find(({ type }: any) => type === 'reasoning').encrypted_content,
    // An upstream that finds its seal under another id refuses it.
    idIn: ({ input }) => input.find(({ type }: any) => type === 'reasoning').id,
  },
  chat: {
    answer: chatAnswer({
      reasoning: THOUGHT,
      reasoning_details: [
        {
          type: 'reasoning.text',
          text: THOUGHT,
          signature: SIGNATURE,
          format: 'anthropic-claude-v1',
          index: 0,
        },
      ],
      content: 'Four.',
    }),
    sealIn: ({ messages }) => messages[1].reasoning_details[0].signature,
  },
  gemini: {
    answer: geminiAnswer([{ text: THOUGHT, thought: true, thoughtSignature: SIGNATURE }, { text: 'Four.' }]),
    sealIn: ({ contents }) => contents[1].parts.find((part: any) => part.thoughtSignature).thoughtSignature,
  },
  bedrock: {
    answer: bedrockAnswer([
      { reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURE } } },
      { text: 'Four.' },
    ]),
    sealIn: ({ messages }) => messages[1].content[0].reasoningContent.reasoningText.signature,
  },
};

const DIALECTS = Object.keys(SEALED) as DialectName[];

const SLUGS: Record<DialectName, string> = {
  messages: 'anthropic-messages',
  responses: 'openai-responses',
  chat: 'openai-chat',
  gemini: 'google-gemini',
  bedrock: 'aws-bedrock',
};

const AWS_KEY = JSON.stringify({
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'a-secret-of-the-tests',
  region: 'us-east-1',
});

function bytesOf(dialect: DialectName): Buffer {
  const { frames } = SEALED[dialect].answer;
  if (dialect === 'bedrock') {
    return Buffer.concat(frames.map(({ event, data }) => awsEvent(String(event), JSON.parse(data))));
  }
  const lines = frames.map(({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${data}\n\n`);
  return Buffer.from(lines.join(''));
}

const QUESTION = { role: 'user', content: 'What is two and two?' };
const FURTHER = { role: 'user', content: 'And three?' };

/** How callers of each format ask, and send back what they were answered. */
const CALLERS: Record<Format, { path: string; first: JsonObject; next: (reply: any) => JsonObject }> = {
  responses: {
    path: '/responses',
    first: { input: [QUESTION], include: ['reasoning.encrypted_content'] },
    next: ({ output }) => ({ input: [QUESTION, ...output, FURTHER] }),
  },
  messages: {
    path: '/messages',
    first: { max_tokens: 999, messages: [QUESTION] },
    next: ({ content }) => ({ messages: [QUESTION, { role: 'assistant', content }, FURTHER] }),
  },
  chat: {
    path: '/chat/completions',
    first: { messages: [QUESTION] },
    next: ({ choices: [{ message }] }) => ({ messages: [QUESTION, message, FURTHER] }),
  },
};

let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await openFakeUpstream();
  gateway = await openTestGateway({
    providers: DIALECTS.map((slug) => ({
      slug,
      name: slug,
      dialect: SLUGS[slug],
      base_url: upstream.url,
      ...(slug === 'bedrock' && { api_key: AWS_KEY }),
    })),
    models: DIALECTS.map((slug) => ({ id: `m/${slug}`, endpoints: [{ provider: slug, model: 'one' }] })),
  } as never);
});

beforeEach(() => upstream.clear());

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

async function ask(format: Format, dialect: DialectName, body: JsonObject): Promise<string> {
  const asked = { model: `m/${dialect}`, stream: true, ...CALLERS[format].first, ...body };
  const response = await gateway.post(CALLERS[format].path, asked);
  const text = await response.text();
  expect(response.status, text.slice(0, 500)).toBe(200);
  return text;
}

/** Checks what clients of messages rely on besides the content. */
function checkMessagesStream(text: string): void {
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)));
  const [start] = events;
  expect(start).toMatchObject({ type: 'message_start' });
  expect(start.message.usage).toMatchObject({
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
  });
  expect(events.filter(({ type }) => type === 'message_delta')).toHaveLength(1);
  const signed = events.findIndex(({ delta }) => delta?.type === 'signature_delta');
  const stopped = events.findIndex(
    ({ type, index }) => type === 'content_block_stop' && index === events[signed]?.index,
  );
  expect(signed).toBeGreaterThan(0);
  expect(stopped).toBeGreaterThan(signed);
  // Clients take the last one for the whole signature.
  expect(events.filter(({ delta }) => delta?.type === 'signature_delta')).toHaveLength(1);
}

describe.each(DIALECTS)('law: a seal of 200 KB of a %s upstream, in pieces anywhere', (dialect) => {
  it.each(Object.keys(CALLERS) as Format[])('goes back as it came through a caller of %s', async (format) => {
    const bytes = bytesOf(dialect);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat(bytes.length), { minLength: 1, maxLength: 12 }),
        async (cuts) => {
          upstream.clear();
          const split = cuts.sort((one, other) => one - other);
          const type = dialect === 'bedrock' ? { 'content-type': 'application/vnd.amazon.eventstream' } : SSE;
          upstream.answer([head(200, type), write(bytes, split), end()]);
          const text = await ask(format, dialect, {});
          if (format === 'messages') checkMessagesStream(text);
          await ask(format, dialect, CALLERS[format].next(readReply(format, text)));
          // Compared as a truth value: a difference of 200 KB helps nobody who reads the failure.
          const { sealIn, idIn = () => ITEM_ID } = SEALED[dialect];
          const sent = upstream.requests[1]?.json;
          expect(sealIn(sent) === SIGNATURE).toBe(true);
          expect(idIn(sent)).toBe(ITEM_ID);
        },
      ),
      { numRuns: runs(3, 60) },
    );
  });
});
