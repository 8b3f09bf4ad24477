import { setTimeout as sleep } from 'node:timers/promises';
import { awsEvent, awsException } from '../fixtures/bedrock/aws-events.ts';
import { sse } from './answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  type RecordedRequest,
  reset,
  type Script,
  SSE,
  type Step,
  write,
} from './fake-upstream.ts';

/** What the upstream does with one call. */
export interface Work {
  readonly input: number;
  /** Part of `input`. */
  readonly cached: number;
  /** Part of `input` that is written to a cache, where the dialect counts that. */
  readonly written: number;
  /** Words of the answer, each a delta of a stream and a token. */
  readonly visible: number;
  /** Tokens of thoughts that are not shown. */
  readonly hidden: number;
  /** Searches that the upstream runs by itself; only dialects that can report them do. */
  readonly searches: number;
  /** Tokens of a picture that the upstream draws, if the request has it draw. */
  readonly drawn: number;
  /** The upstream runs code in a container, if the request has it run code. */
  readonly runsCode: boolean;
  readonly how: WorkEnd;
}

/**
 * How a call goes. `answer`: to its end. `refuse`: the model declines. `empty`: it thinks and says nothing. `silent`:
 * it works and never sends a byte. `late`: a server in front of it gives it up, with 504. `reset`: the connection
 * breaks before a byte. `stall`, `break`: the answer stops, or its connection breaks, after its last word and before
 * its usage. `fail`: instead of its usage the answer says that it failed; in the responses format it says both.
 */
export type WorkEnd =
  | 'answer'
  | 'refuse'
  | 'empty'
  | 'silent'
  | 'late'
  | 'reset'
  | 'stall'
  | 'break'
  | 'fail';

/** USD for each unit: what the configuration of a test says too. */
export const BILLED_PRICES = {
  prompt: 3e-6,
  cached: 3e-7,
  written: 3.75e-6,
  completion: 1.5e-5,
  search: 0.01,
  drawn: 4e-5,
  drawnInput: 1e-5,
  container: 0.03,
} as const;

/** Input tokens of a picture: what it was described by. */
const DRAWN_INPUT = 60;

/** The same as the price list of an endpoint. */
export const BILLED_PRICING = {
  prompt: '0.000003',
  completion: '0.000015',
  input_cache_read: '0.0000003',
  input_cache_write: '0.00000375',
  web_search: '0.01',
  image_generation: '0.00004',
  image_generation_input: '0.00001',
  code_execution: '0.03',
} as const;

/** Dialects of upstreams, each with the slug of its provider. */
export const BILLED_DIALECTS = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'google-gemini',
  bedrock: 'aws-bedrock',
} as const;

export type BilledDialect = keyof typeof BILLED_DIALECTS;

/**
 * An upstream of all dialects that keeps its own bill: every call that arrives is worked on and billed whole, whether
 * the answer is read or not.
 */
export interface BilledUpstream {
  readonly fake: FakeUpstream;
  /** Base address for the provider of a dialect. */
  urlOf(dialect: BilledDialect): string;
  /** Chooses the work of the following calls, in order; the last one stays. */
  plan(...works: Work[]): void;
  /** USD that all calls so far have cost. */
  readonly billUsd: number;
  readonly calls: number;
  /** Forgets the bill. */
  clear(): void;
  close(): Promise<void>;
}

/** What a call costs. A call that is lost with its connection, before a byte of the answer, costs nothing. */
export function billOf(work: Work): number {
  const { input, cached, written, searches, drawn, runsCode, how } = work;
  if (how === 'reset') return 0;
  const prices = BILLED_PRICES;
  return (
    (input - cached - written) * prices.prompt +
    cached * prices.cached +
    written * prices.written +
    outputOf(work) * prices.completion +
    searches * prices.search +
    (drawn > 0 ? drawn * prices.drawn + DRAWN_INPUT * prices.drawnInput : 0) +
    (runsCode ? prices.container : 0)
  );
}

export async function openBilledUpstream(): Promise<BilledUpstream> {
  const fake = await openFakeUpstream();
  let works: Work[] = [];
  let billUsd = 0;
  let calls = 0;
  const script: Script = (request) => {
    const work = works.length > 1 ? works.shift() : works[0];
    if (work === undefined) throw new Error('the upstream was given no work');
    const dialect = dialectOf(request);
    const streams = isStream(request, dialect);
    const done = doneOf(work, dialect, request);
    if (streams || !isErrorBody(work, dialect)) billUsd += billOf(done);
    calls += 1;
    return stepsFor(dialect, done, streams);
  };
  fake.answer(script);
  return {
    fake,
    urlOf: (dialect) => `${fake.url}/${dialect}`,
    plan: (...planned) => {
      works = planned;
    },
    get billUsd() {
      return billUsd;
    },
    get calls() {
      return calls;
    },
    clear() {
      billUsd = 0;
      calls = 0;
    },
    close: () => fake.close(),
  };
}

/** The work as far as the dialect reports it and the tools of the request allow it. Two of the dialects search. */
function doneOf(work: Work, dialect: BilledDialect, { json }: RecordedRequest): Work {
  const canSearch = dialect === 'messages' || dialect === 'responses';
  const has = (kind: RegExp) => json?.tools?.some?.(({ type }: { type?: string }) => kind.test(type ?? ''));
  return {
    ...work,
    cached: dialect === 'bedrock' ? 0 : work.cached,
    written: dialect === 'gemini' || dialect === 'bedrock' ? 0 : work.written,
    searches: canSearch ? work.searches : 0,
    drawn: has(/^image_generation$/) ? work.drawn : 0,
    runsCode: work.runsCode && has(/^code_(?:interpreter|execution)/) === true,
  };
}

/** True if a whole answer is an error and nothing else, which costs nothing. */
function isErrorBody({ how }: Work, dialect: BilledDialect): boolean {
  return how === 'fail' && dialect !== 'responses';
}

function dialectOf({ path }: RecordedRequest): BilledDialect {
  const [, , name] = path.split('/');
  if (name === undefined || !(name in BILLED_DIALECTS)) throw new Error(`no dialect at ${path}`);
  return name as BilledDialect;
}

function isStream({ path, json }: RecordedRequest, dialect: BilledDialect): boolean {
  if (dialect === 'gemini') return path.includes(':streamGenerateContent');
  if (dialect === 'bedrock') return path.endsWith('/converse-stream');
  return json?.stream === true;
}

/** Milliseconds between two frames, so that a caller can leave between them. */
const FRAME_GAP_MS = 2;

function stepsFor(dialect: BilledDialect, work: Work, streams: boolean): Step[] {
  const { how } = work;
  if (how === 'silent') return [never()];
  if (how === 'late') return [head(504, JSON_TYPE), write('{"error":{"message":"late"}}'), end()];
  if (how === 'reset') return [reset()];
  const wire = WIRES[dialect];
  if (!streams) {
    if (how === 'stall') return [head(200, JSON_TYPE), never()];
    if (how === 'break') return [head(200, JSON_TYPE), write('{"'), reset()];
    const body = isErrorBody(work, dialect)
      ? { error: { code: 500, message: 'it failed' } }
      : wire.body(work);
    return [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
  }
  const { beginning, ending, failing } = wire.frames(work);
  const isCut = how === 'stall' || how === 'break';
  const all = isCut ? beginning : [...beginning, ...(how === 'fail' ? failing : ending)];
  const frames = all.flatMap((frame) => [write(frame), () => sleep(FRAME_GAP_MS)]);
  const last = how === 'stall' ? never() : how === 'break' ? reset() : end();
  return [head(200, wire.head), ...frames, last];
}

/** A dialect's bytes for a piece of work. */
interface Wire {
  readonly head: Record<string, string>;
  body(work: Work): object;
  /** `beginning`: up to the last word. `ending`: the usage and the end. `failing`: a failure instead. */
  frames(work: Work): Readonly<Record<'beginning' | 'ending' | 'failing', readonly Frame[]>>;
}

type Frame = string | Uint8Array;

const wordsOf = ({ visible, how }: Work): string[] =>
  how === 'refuse' || how === 'empty' ? [] : Array.from({ length: visible }, (_, index) => `word${index} `);

const outputOf = ({ visible, hidden, how }: Work): number =>
  hidden + (how === 'refuse' || how === 'empty' ? 0 : visible);

const event = (name: string, data: object): string => sse([{ event: name, data: { type: name, ...data } }]);
const data = (value: unknown): string => sse([{ data: value }]);

const CHAT = { id: 'chatcmpl-billed', created: 1_790_000_000, model: 'one' };

const chat: Wire = {
  head: SSE,
  body: (work) => ({
    ...CHAT,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: wordsOf(work).join('') || null },
        finish_reason: work.how === 'refuse' ? 'content_filter' : 'stop',
      },
    ],
    usage: chatUsage(work),
  }),
  frames: (work) => {
    const chunk = (delta: object, finish: string | null = null) =>
      data({
        ...CHAT,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      beginning: [
        chunk({ role: 'assistant', content: '' }),
        ...wordsOf(work).map((content) => chunk({ content })),
      ],
      ending: [
        chunk({}, work.how === 'refuse' ? 'content_filter' : 'stop'),
        data({ ...CHAT, object: 'chat.completion.chunk', choices: [], usage: chatUsage(work) }),
        data('[DONE]'),
      ],
      failing: [data({ error: { message: 'it failed', type: 'server_error', code: 500 } })],
    };
  },
};

function chatUsage(work: Work) {
  return {
    prompt_tokens: work.input,
    completion_tokens: outputOf(work),
    total_tokens: work.input + outputOf(work),
    prompt_tokens_details: { cached_tokens: work.cached, cache_write_tokens: work.written },
    completion_tokens_details: { reasoning_tokens: work.hidden },
  };
}

const responses: Wire = {
  head: SSE,
  body: responsesBody,
  frames: (work) => {
    const whole = responsesBody(work);
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    let number = 0;
    const numbered = (name: string, fields: object) => event(name, { sequence_number: number++, ...fields });
    const items = toolItems(work);
    const tools = items.flatMap((item, output_index) => [
      numbered('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }),
      numbered('response.output_item.done', { output_index, item }),
    ]);
    const message = messageItem(work);
    const at = { item_id: 'msg_billed', output_index: items.length, content_index: 0 };
    const opening =
      message === undefined
        ? []
        : [
            numbered('response.output_item.added', {
              output_index: items.length,
              item: { ...message, status: 'in_progress', content: [] },
            }),
            numbered('response.content_part.added', { ...at, part: { ...message.content[0], text: '' } }),
            ...wordsOf(work).map((delta) =>
              numbered('response.output_text.delta', { ...at, delta, logprobs: [] }),
            ),
          ];
    const closing =
      message === undefined
        ? []
        : [
            numbered('response.content_part.done', { ...at, part: message.content[0] }),
            numbered('response.output_item.done', { output_index: items.length, item: message }),
          ];
    return {
      beginning: [numbered('response.created', { response: begun }), ...tools, ...opening],
      ending: [
        ...closing,
        numbered(work.how === 'refuse' ? 'response.incomplete' : 'response.completed', { response: whole }),
      ],
      failing: [numbered('response.failed', { response: whole })],
    };
  },
};

function toolItems({ searches, drawn, runsCode }: Work) {
  const status = 'completed';
  return [
    ...Array.from({ length: searches }, (_, index) => ({
      id: `ws_${index}`,
      type: 'web_search_call',
      status,
      action: { type: 'search', query: 'news' },
    })),
    ...(runsCode
      ? [
          {
            id: 'ci_1',
            type: 'code_interpreter_call',
            status,
            container_id: 'cntr_1',
            code: '1',
            outputs: [],
          },
        ]
      : []),
    ...(drawn > 0 ? [{ id: 'ig_1', type: 'image_generation_call', status, result: PICTURE }] : []),
  ];
}

/** A picture of one pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function messageItem(work: Work) {
  const text = wordsOf(work).join('');
  if (text === '') return undefined;
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id: 'msg_billed', type: 'message', role: 'assistant', status: 'completed', content };
}

function responsesBody(work: Work) {
  const refuses = work.how === 'refuse';
  const fails = work.how === 'fail';
  return {
    id: 'resp_billed',
    object: 'response',
    created_at: 1_790_000_000,
    status: refuses ? 'incomplete' : fails ? 'failed' : 'completed',
    incomplete_details: refuses ? { reason: 'content_filter' } : null,
    error: fails ? { code: 'server_error', message: 'it failed' } : null,
    model: 'one',
    output: [...toolItems(work), ...[messageItem(work)].filter((item) => item !== undefined)],
    usage: {
      input_tokens: work.input,
      input_tokens_details: { cached_tokens: work.cached, cache_write_tokens: work.written },
      output_tokens: outputOf(work),
      output_tokens_details: { reasoning_tokens: work.hidden },
      total_tokens: work.input + outputOf(work),
    },
    ...(work.drawn > 0 && {
      tool_usage: { image_gen: { input_tokens: DRAWN_INPUT, output_tokens: work.drawn } },
    }),
  };
}

const messages: Wire = {
  head: SSE,
  body: (work) => ({
    ...messagesHead(work),
    content: [...toolBlocks(work), ...textBlocks(work)],
    stop_reason: work.how === 'refuse' ? 'refusal' : 'end_turn',
    usage: messagesUsage(work),
  }),
  frames: (work) => {
    const blocks = toolBlocks(work);
    const texts = wordsOf(work);
    const index = blocks.length;
    return {
      beginning: [
        event('message_start', {
          message: {
            ...messagesHead(work),
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        }),
        ...blocks.flatMap((content_block, place) => [
          event('content_block_start', { index: place, content_block }),
          event('content_block_stop', { index: place }),
        ]),
        ...(texts.length === 0
          ? []
          : [event('content_block_start', { index, content_block: { type: 'text', text: '' } })]),
        ...texts.map((text) => event('content_block_delta', { index, delta: { type: 'text_delta', text } })),
      ],
      ending: [
        ...(texts.length === 0 ? [] : [event('content_block_stop', { index })]),
        event('message_delta', {
          delta: { stop_reason: work.how === 'refuse' ? 'refusal' : 'end_turn', stop_sequence: null },
          usage: messagesUsage(work),
        }),
        event('message_stop', {}),
      ],
      failing: [event('error', { error: { type: 'api_error', message: 'it failed' } })],
    };
  },
};

function messagesHead(_: Work) {
  return { id: 'msg_billed', type: 'message', role: 'assistant', model: 'one', stop_sequence: null };
}

function textBlocks(work: Work) {
  const text = wordsOf(work).join('');
  return text === '' ? [] : [{ type: 'text', text }];
}

function toolBlocks({ searches, runsCode }: Work) {
  const found = Array.from({ length: searches }, (_, index) => [
    { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: { query: 'news' } },
    { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${index}`, content: [] },
  ]).flat();
  if (!runsCode) return found;
  const id = 'srvtoolu_code';
  const result = { type: 'code_execution_result', stdout: '1', stderr: '', return_code: 0, content: [] };
  return [
    ...found,
    { type: 'server_tool_use', id, name: 'code_execution', input: { code: '1' } },
    { type: 'code_execution_tool_result', tool_use_id: id, content: result },
  ];
}

function messagesUsage(work: Work) {
  return {
    input_tokens: work.input - work.cached - work.written,
    cache_creation_input_tokens: work.written,
    cache_read_input_tokens: work.cached,
    output_tokens: outputOf(work),
    server_tool_use: { web_search_requests: work.searches },
  };
}

const gemini: Wire = {
  head: SSE,
  body: (work) => geminiChunk(wordsOf(work).join(''), work, true),
  frames: (work) => ({
    beginning: wordsOf(work).map((word) => data(geminiChunk(word, work, false))),
    ending: [data(geminiChunk('', work, true))],
    failing: [data({ error: { code: 500, message: 'it failed', status: 'INTERNAL' } })],
  }),
};

function geminiChunk(text: string, work: Work, isLast: boolean) {
  const reason = work.how === 'refuse' ? 'SAFETY' : 'STOP';
  const words = wordsOf(work).length;
  return {
    candidates: [
      {
        content: { role: 'model', parts: text === '' ? [] : [{ text }] },
        index: 0,
        ...(isLast && { finishReason: reason }),
      },
    ],
    ...(isLast && {
      usageMetadata: {
        promptTokenCount: work.input,
        cachedContentTokenCount: work.cached,
        candidatesTokenCount: words,
        thoughtsTokenCount: work.hidden,
        totalTokenCount: work.input + words + work.hidden,
      },
    }),
    modelVersion: 'one',
    responseId: 'billed',
  };
}

const bedrock: Wire = {
  head: { 'content-type': 'application/vnd.amazon.eventstream' },
  body: (work) => ({
    output: { message: { role: 'assistant', content: bedrockContent(work) } },
    stopReason: work.how === 'refuse' ? 'content_filtered' : 'end_turn',
    usage: bedrockUsage(work),
    metrics: { latencyMs: 12 },
  }),
  frames: (work) => {
    const words = wordsOf(work);
    const block = { contentBlockIndex: 0 };
    return {
      beginning: [
        awsEvent('messageStart', { role: 'assistant' }),
        ...words.map((text) => awsEvent('contentBlockDelta', { ...block, delta: { text } })),
      ],
      ending: [
        ...(words.length === 0 ? [] : [awsEvent('contentBlockStop', block)]),
        awsEvent('messageStop', { stopReason: work.how === 'refuse' ? 'content_filtered' : 'end_turn' }),
        awsEvent('metadata', { usage: bedrockUsage(work), metrics: { latencyMs: 12 } }),
      ],
      failing: [awsException('internalServerException', { message: 'it failed' })],
    };
  },
};

function bedrockContent(work: Work) {
  const text = wordsOf(work).join('');
  return text === '' ? [] : [{ text }];
}

function bedrockUsage(work: Work) {
  return {
    inputTokens: work.input,
    outputTokens: outputOf(work),
    totalTokens: work.input + outputOf(work),
  };
}

const WIRES: Readonly<Record<BilledDialect, Wire>> = { chat, responses, messages, gemini, bedrock };
