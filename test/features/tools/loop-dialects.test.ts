import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bedrockDouble } from '../../kit/fakes/agents/bedrock-double.ts';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { geminiDouble } from '../../kit/fakes/agents/gemini-double.ts';
import { CALL_ID, SEAL, THOUGHTS } from '../../kit/fakes/agents/tool-loop.ts';
import {
  COUNTED,
  eventBytes,
  type Step,
  type UpstreamDouble,
} from '../../kit/fakes/agents/upstream-double.ts';
import type { Said } from '../../kit/fakes/agents/whole-answers.ts';
import { end, type FakeUpstream, head, reply, write } from '../../kit/fakes/fake-upstream.ts';
import { awsStream } from '../../kit/fixtures/bedrock/aws-events.ts';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { readReply } from '../../laws/matrix/read-reply.ts';
import { type DoublesGateway, ONE_OF_EACH, openDoublesGateway } from './doubles-gateway.ts';
import { PATHS, type Path, QUESTION, textOf } from './tool-gateway.ts';

/** Server tools over upstreams of all five dialects, whose model thinks, seals its thoughts and calls a tool. */

const MODES = ['whole', 'streamed'] as const;
type Mode = (typeof MODES)[number];

let doubles: DoublesGateway;
let engine: FakeUpstream;
let gateway: TestGateway;

const PAIRS = DOUBLES.flatMap((first) =>
  DOUBLES.filter((second) => second !== first).map((second) => [first, second] as const),
);
const pairId = (first: UpstreamDouble, second: UpstreamDouble) => `pair/${first.dialect}-${second.dialect}`;

beforeAll(async () => {
  const pairs = PAIRS.map((pair) => [pairId(...pair), pair]);
  doubles = await openDoublesGateway({ ...ONE_OF_EACH, ...Object.fromEntries(pairs) });
  ({ engine, gateway } = doubles);
});
beforeEach(() => doubles.clear());
afterAll(() => doubles.close());

const RESULTS = [
  { url: 'https://www.example.com/a', title: 'About A', content: 'A is the first letter.' },
  { url: 'https://other.test/c', title: 'About C', content: 'C is the third.' },
];

/**
 * Server tools with a call of each. `result`: what the model gets; `replayed`: what it gets of an answer that its
 * caller sends back; `blocks`: what callers of the messages format see.
 */
const TOOLS = [
  {
    type: 'signalbox:datetime',
    parameters: { timezone: 'Europe/Berlin' },
    call: { name: 'datetime', arguments: {} },
    replayed: /Europe\/Berlin/,
    result: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00/,
    blocks: [],
  },
  {
    type: 'signalbox:web_search',
    parameters: { max_results: 2 },
    call: { name: 'web_search', arguments: { query: 'letter A' } },
    replayed: /example\.com\/a/,
    result: /A is the first letter\./,
    blocks: ['server_tool_use', 'web_search_tool_result'],
  },
] as const;

/** Callers who want to be shown thoughts. */
const THINKING: Record<Path, object> = {
  '/chat/completions': { reasoning: { effort: 'low' } },
  '/responses': { reasoning: { effort: 'low' } },
  '/messages': { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 1024 } },
};

const SAYS = 'Let me look.';
const ANSWER = 'It is A.';

function stepWith(call: Pick<Step['call'], 'name' | 'arguments'>, more: Partial<Step> = {}): Step {
  return { thoughts: THOUGHTS, seal: SEAL, says: SAYS, call: { id: CALL_ID, ...call }, ...more };
}

function answers(double: UpstreamDouble, ...said: Said[]): FakeUpstream {
  const upstream = doubles.upstreamOf(double);
  for (const each of said) upstream.answer(doubleAnswer(double, each));
  return upstream;
}

/** The whole answer as its caller reads it. */
async function ask(path: Path, mode: Mode, model: string, body: object): Promise<any> {
  const response = await gateway.post(
    path,
    { model, ...QUESTION[path], ...body, stream: mode === 'streamed' },
    { 'x-signalbox-metadata': 'enabled' },
  );
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return mode === 'whole' ? JSON.parse(text) : readReply(FORMATS[path], text);
}

const FORMATS = { '/chat/completions': 'chat', '/responses': 'responses', '/messages': 'messages' } as const;

/** Types of the items or blocks of an answer; chat has none. */
const typesOf: Record<Path, (body: any) => string[]> = {
  '/chat/completions': () => [],
  '/responses': ({ output }) => output.map(({ type }: any) => type),
  '/messages': ({ content }) => content.map(({ type }: any) => type),
};

const tokensOf: Record<Path, (usage: any) => number[]> = {
  '/chat/completions': ({ prompt_tokens, completion_tokens }) => [prompt_tokens, completion_tokens],
  '/responses': ({ input_tokens, output_tokens }) => [input_tokens, output_tokens],
  '/messages': ({ input_tokens, output_tokens }) => [input_tokens, output_tokens],
};

const CASES = TOOLS.flatMap((tool) =>
  PATHS.flatMap((path) =>
    DOUBLES.flatMap((double) =>
      MODES.map((mode) => ({ tool, path, double, mode, type: tool.type, dialect: double.dialect })),
    ),
  ),
);

/** True if the seal is that of the call, not of the thoughts: callers are shown it by itself. */
const sealsCalls = ({ dialect }: UpstreamDouble) => dialect === 'google-gemini';

describe('a server tool in two legs', () => {
  it.each(CASES)('$type on $path from $dialect, $mode', async ({ tool, path, double, mode }) => {
    const { type, parameters, call, result, blocks } = tool;
    engine.answer(reply(200, { results: RESULTS }));
    const step = stepWith(call);
    const upstream = answers(double, step, { says: ANSWER });
    const body = await ask(path, mode, `one/${double.dialect}`, {
      ...THINKING[path],
      tools: [{ type, parameters }],
    });
    expect(textOf[path](body)).toBe(SAYS + ANSWER);
    expect(tokensOf[path](body.usage)).toEqual([2 * COUNTED.input, 2 * COUNTED.output]);
    const ofSealedCall = (shown: string) => (sealsCalls(double) ? [shown] : []);
    const types = {
      '/chat/completions': [],
      '/responses': ['reasoning', 'message', ...ofSealedCall('reasoning'), type, 'message'],
      '/messages': ['thinking', 'text', ...ofSealedCall('redacted_thinking'), ...blocks, 'text'],
    };
    expect(typesOf[path](body)).toEqual(types[path]);
    expect(upstream.requests).toHaveLength(2);
    const [first, second] = upstream.requests.map(({ json }) => json);
    expect(double.toolsOf(first).map(({ name }) => name)).toEqual([call.name]);
    expect(double.toolsOf(second)).toEqual(double.toolsOf(first));
    expect(double.stepsOf(second)).toEqual([
      { thoughts: THOUGHTS, seal: SEAL, call: step.call, output: expect.stringMatching(result) },
    ]);
  });
});

/** The next turn of a caller who sends the answer back as it came. */
const nextTurn: Record<Path, (body: any) => object> = {
  '/chat/completions': ({ choices }) => ({
    messages: [...QUESTION['/chat/completions'].messages, choices[0].message, GO_ON],
  }),
  '/responses': ({ output }) => ({
    input: [{ role: 'user', content: QUESTION['/responses'].input }, ...output, GO_ON],
  }),
  '/messages': ({ content }) => ({
    messages: [...QUESTION['/messages'].messages, { role: 'assistant', content }, GO_ON],
  }),
};
const GO_ON = { role: 'user', content: 'Go on.' };

const WHOLE = CASES.filter(({ mode }) => mode === 'whole');

describe('an answer with server tools that its caller sends back', () => {
  it.each(WHOLE)('$type on $path from $dialect', async ({ tool, path, double, mode }) => {
    const { type, parameters, call, replayed, blocks } = tool;
    engine.answer(reply(200, { results: RESULTS }));
    const step = stepWith(call);
    const upstream = answers(double, step, { says: ANSWER }, { says: 'Yes.' });
    const wish = { ...THINKING[path], tools: [{ type, parameters }] };
    const body = await ask(path, mode, `one/${double.dialect}`, wish);
    const next = await ask(path, mode, `one/${double.dialect}`, { ...wish, ...nextTurn[path](body) });
    expect(textOf[path](next)).toBe('Yes.');
    const isShown = path === '/responses' || (path === '/messages' && blocks.length > 0);
    const output = expect.stringMatching(replayed);
    const shown = [{ thoughts: THOUGHTS, seal: SEAL, call: step.call, output }];
    expect(double.stepsOf(upstream.requests[2]?.json)).toEqual(isShown ? shown : []);
  });
});

describe('reasoning of several legs', () => {
  const [datetime] = TOOLS;
  const wish = { ...THINKING['/responses'], tools: [{ type: datetime.type }] };

  it.each(DOUBLES)('keeps each seal at its step on $dialect', async (double) => {
    const steps = ['one', 'two', 'three'].map((word) =>
      stepWith(datetime.call, {
        thoughts: `Thought ${word}.`,
        seal: Buffer.from(`seal ${word} \u00ff`).toString('base64'),
        call: { id: `call_${word}`, ...datetime.call },
      }),
    );
    const upstream = answers(double, ...steps, { says: ANSWER });
    await ask('/responses', 'streamed', `one/${double.dialect}`, wish);
    expect(double.stepsOf(upstream.requests[3]?.json)).toEqual(
      steps.map(({ thoughts, seal, call }) => ({
        thoughts,
        seal,
        call,
        output: expect.stringMatching(/UTC/),
      })),
    );
  });

  it.each(DOUBLES)('keeps the seal of thoughts that are not shown on $dialect', async (double) => {
    const step = stepWith(datetime.call, { thoughts: '' });
    const upstream = answers(double, step, { says: ANSWER });
    await ask('/messages', 'streamed', `one/${double.dialect}`, { tools: [{ type: datetime.type }] });
    expect(double.stepsOf(upstream.requests[1]?.json)).toMatchObject([{ thoughts: undefined, seal: SEAL }]);
  });
});

const CALL_A = { id: 'call_a', name: 'datetime', args: {} };

/** Seals at places that the doubles do not use: what the model answers, and gets back in the next leg. */
const PLACES = [
  {
    double: geminiDouble,
    places: 'text and the first of two calls',
    said: [
      { text: 'Hm.', thought: true },
      { text: SAYS, thoughtSignature: 'c2VhbCBvZiB0ZXh0' },
      { functionCall: CALL_A, thoughtSignature: 'c2VhbCBvZiB0aGUgY2FsbA==' },
      { functionCall: { ...CALL_A, id: 'call_b' } },
    ],
    bodyOf: (parts: readonly object[]) => ({
      candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    }),
    streamOf: (parts: readonly object[]) =>
      eventBytes(
        parts.map((part, index) => ({
          data: {
            candidates: [
              {
                content: { role: 'model', parts: [part] },
                index: 0,
                ...(index === parts.length - 1 && { finishReason: 'STOP' }),
              },
            ],
          },
        })),
      ),
    returned: ({ contents }: any) => contents[1].parts,
  },
  {
    double: bedrockDouble,
    places: 'redacted thoughts beside signed ones',
    said: [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2VhbCBvZiB0ZXh0' } } },
      { reasoningContent: { redactedContent: 'c2VhbGVkIHRob3VnaHRz' } },
      { text: SAYS },
      { toolUse: { toolUseId: 'call_a', name: 'datetime', input: {} } },
    ],
    bodyOf: (content: readonly object[]) => ({
      output: { message: { role: 'assistant', content } },
      stopReason: 'tool_use',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    }),
    streamOf: (content: readonly any[]) =>
      awsStream([
        { messageStart: { role: 'assistant' } },
        ...content.flatMap(({ reasoningContent, toolUse, ...block }, contentBlockIndex) => {
          const { text, signature } = reasoningContent?.reasoningText ?? {};
          const deltas =
            toolUse !== undefined
              ? []
              : text !== undefined
                ? [{ reasoningContent: { text } }, { reasoningContent: { signature } }]
                : [reasoningContent === undefined ? block : { reasoningContent }];
          const start = toolUse && { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } };
          return [
            ...(start === undefined ? [] : [{ contentBlockStart: { contentBlockIndex, start } }]),
            ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
            { contentBlockStop: { contentBlockIndex } },
          ];
        }),
        { messageStop: { stopReason: 'tool_use' } },
      ]),
    returned: ({ messages }: any) => messages[1].content,
  },
] as const;

const SEALED = PLACES.flatMap((place) =>
  PATHS.flatMap((path) => MODES.map((mode) => ({ ...place, path, mode, dialect: place.double.dialect }))),
);

describe('seals', () => {
  it.each(SEALED)('of $places return to $dialect on $path, $mode', async (row) => {
    const { double, said, path, mode, bodyOf, streamOf, returned } = row;
    const upstream = doubles.upstreamOf(double);
    upstream.answer(
      mode === 'whole'
        ? reply(200, bodyOf(said))
        : [head(200, { 'content-type': double.mediaType }), write(streamOf(said)), end()],
    );
    answers(double, { says: ANSWER });
    const body = await ask(path, mode, `one/${double.dialect}`, {
      ...THINKING[path],
      tools: [{ type: 'signalbox:datetime' }],
    });
    expect(textOf[path](body)).toBe(SAYS + ANSWER);
    expect(returned(upstream.requests[1]?.json)).toEqual(said);
  });
});

/** Dialects whose seals another dialect takes: the chat double passes on seals of a Claude model. */
const TAKERS: Readonly<Record<string, readonly string[]>> = {
  'openai-chat': ['anthropic-messages', 'aws-bedrock'],
  'anthropic-messages': ['aws-bedrock'],
  'aws-bedrock': ['anthropic-messages'],
};

/** Dialects that take thoughts of other families as text. */
const TAKES_TEXT = new Set(['openai-responses', 'google-gemini']);

const NAMED_PAIRS = PAIRS.map(([first, second]) => ({
  first,
  second,
  from: first.dialect,
  to: second.dialect,
}));

describe('a conversation on two endpoints', () => {
  const [datetime] = TOOLS;
  const wish = (...doubles: UpstreamDouble[]) => ({
    ...THINKING['/responses'],
    tools: [{ type: datetime.type }],
    provider: { order: doubles.map(({ dialect }) => dialect) },
  });
  const DOWN = reply(503, { message: 'down', error: { message: 'down' } });

  it.each(NAMED_PAIRS)(
    'goes on at $to when $from fails, without foreign seals',
    async ({ first, second }) => {
      const step = stepWith(datetime.call);
      const left = answers(first, step).answer(DOWN);
      const taken = answers(second, { says: ANSWER });
      const body = await ask('/responses', 'streamed', pairId(first, second), wish(first, second));
      expect(textOf['/responses'](body)).toBe(SAYS + ANSWER);
      expect(left.requests.length).toBeGreaterThan(1);
      const [request] = taken.requests;
      const isTaken = TAKERS[first.dialect]?.includes(second.dialect) === true;
      expect(second.stepsOf(request?.json)).toMatchObject([
        {
          seal: isTaken ? SEAL : undefined,
          call: { name: datetime.call.name },
          output: expect.stringMatching(/UTC/),
        },
      ]);
      expect(request?.body.includes(SEAL)).toBe(isTaken);
      expect(request?.body.includes(THOUGHTS)).toBe(isTaken || TAKES_TEXT.has(second.dialect));
    },
  );

  it.each(NAMED_PAIRS)('stays at $to when $from is well again', async ({ first, second }) => {
    const left = doubles.upstreamOf(first).answer(DOWN);
    const taken = doubles.upstreamOf(second);
    taken.answer((request) => {
      // From now on the endpoint that comes first would answer.
      left.clear();
      answers(first, { says: 'Here I am.' });
      return doubleAnswer(second, stepWith(datetime.call))(request);
    });
    answers(second, { says: ANSWER });
    const body = await ask('/responses', 'streamed', pairId(first, second), wish(first, second));
    expect(textOf['/responses'](body)).toBe(SAYS + ANSWER);
    expect(left.requests).toEqual([]);
    expect(second.stepsOf(taken.requests[1]?.json)).toMatchObject([{ thoughts: THOUGHTS, seal: SEAL }]);
  });
});
