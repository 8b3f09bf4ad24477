import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { messagesAnswer as plainMessage, sse } from '../../../kit/fakes/answers.ts';
import { end, head, JSON_TYPE, type Script, SSE, write } from '../../../kit/fakes/fake-upstream.ts';
import { messagesAnswer } from '../../../laws/matrix/answers/messages.ts';
import { responsesAnswer } from '../../../laws/matrix/answers/responses.ts';
import type { WireAnswer } from '../../../laws/matrix/answers/wire-answer.ts';
import { FORMATS, type Path, WAYS } from '../plugins/formats.ts';
import {
  ANSWERS as ANSWERS_OF,
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

/** A card number that is cut into parts, blocks or messages is found like one that is not. */

const ACTIONS = ['block', 'redact', 'flag'] as const;
type Action = (typeof ACTIONS)[number];

let guarded: GuardedGateway;
let keys: Readonly<Record<Action, string>>;

beforeAll(async () => {
  guarded = await openGuardedGateway({
    models: [
      {
        id: 'm/all',
        input_modalities: ['text', 'image', 'file'],
        endpoints: [{ provider: 'anthropic-messages', model: 'all' }],
      },
    ],
  });
  const keyFor = (action: Action) =>
    guarded.guard({ content_filter_builtins: [{ slug: 'credit-card', action }] });
  keys = { block: await keyFor('block'), redact: await keyFor('redact'), flag: await keyFor('flag') };
});
beforeEach(() => guarded.upstream.clear());
afterAll(() => guarded.close());

const FIRST = 'my card: 4111 1111';
const SECONDS = [' 1111 1111, thanks', '1111 1111, thanks'];

const text = (given: string) => ({ type: 'text', text: given });
const input = (given: string) => ({ type: 'input_text', text: given });
const output = (given: string) => ({ type: 'output_text', text: given, annotations: [] });
const chat = (...messages: JsonObject[]) => ({ messages });
const messages = (...given: JsonObject[]) => ({ max_tokens: 99, messages: given });
const user = (content: unknown) => ({ role: 'user', content }) as JsonObject;
const assistant = (content: unknown) => ({ role: 'assistant', content }) as JsonObject;
const GO_ON = user('Go on.');

/** Shorter than what is known to be a picture: it is read as it stands. */
const SMALL_PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

type Cut = (one: string, other: string) => JsonObject;

const REQUESTS: Readonly<Record<Path, Readonly<Record<string, Cut>>>> = {
  '/chat/completions': {
    parts: (one, other) => chat(user([text(one), text(other)])),
    'parts around a picture': (one, other) =>
      chat(user([text(one), { type: 'image_url', image_url: { url: 'https://a.test/a.png' } }, text(other)])),
    'parts around a small picture': (one, other) =>
      chat(user([text(one), { type: 'image_url', image_url: { url: SMALL_PICTURE } }, text(other)])),
    messages: (one, other) => chat(user(one), user(other)),
    'messages around a blank one': (one, other) => chat(user(one), assistant(' '), user(other)),
    'messages around a rule': (one, other) =>
      chat(user(one), { role: 'system', content: 'Be brief.' }, user(other)),
    'rules around a message': (one, other) =>
      chat({ role: 'system', content: one }, GO_ON, { role: 'developer', content: other }, GO_ON),
    'system messages': (one, other) =>
      chat({ role: 'system', content: one }, { role: 'developer', content: other }, GO_ON),
    'parts of the system message': (one, other) =>
      chat({ role: 'system', content: [text(one), text(other)] }, GO_ON),
    'messages of the assistant': (one, other) => chat(GO_ON, assistant(one), assistant(other), GO_ON),
    'parts of a result': (one, other) =>
      chat(
        GO_ON,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [text(one), text(other)] },
      ),
  },
  '/responses': {
    parts: (one, other) => ({ input: [{ type: 'message', ...user([input(one), input(other)]) }] }),
    messages: (one, other) => ({ input: [user(one), user(other)] }),
    'messages around sealed thoughts': (one, other) => ({
      input: [
        user(one),
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x'.repeat(80) },
        user(other),
      ],
    }),
    'instructions and a message': (one, other) => ({
      instructions: one,
      input: [{ role: 'system', content: other }, GO_ON],
    }),
    'parts of the assistant': (one, other) => ({
      input: [GO_ON, { type: 'message', ...assistant([output(one), output(other)]) }, GO_ON],
    }),
    'parts of a result': (one, other) => ({
      input: [
        GO_ON,
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: [input(one), input(other)] },
      ],
    }),
    'a file and a part': (one, other) => ({
      input: [
        user([
          {
            type: 'input_file',
            filename: 'a.txt',
            file_data: `data:text/plain;base64,${Buffer.from(one).toString('base64')}`,
          },
          input(other),
        ]),
      ],
    }),
  },
  '/messages': {
    blocks: (one, other) => messages(user([text(one), text(other)])),
    messages: (one, other) => messages(user(one), user(other)),
    'system blocks': (one, other) => ({ ...messages(GO_ON), system: [text(one), text(other)] }),
    'blocks of the assistant': (one, other) => messages(GO_ON, assistant([text(one), text(other)]), GO_ON),
    'blocks around thoughts': (one, other) => {
      const thoughts = { type: 'thinking', thinking: 'Now the rest.', signature: 'x'.repeat(80) };
      return messages(GO_ON, assistant([text(one), thoughts, text(other)]), GO_ON);
    },
    'blocks of a result': (one, other) =>
      messages(
        GO_ON,
        assistant([{ type: 'tool_use', id: 'c1', name: 'look', input: {} }]),
        user([{ type: 'tool_result', tool_use_id: 'c1', content: [text(one), text(other)] }]),
      ),
    'a document and a block': (one, other) =>
      messages(
        user([
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: one } },
          text(other),
        ]),
      ),
  },
};

const SENT = Object.entries(REQUESTS).flatMap(([path, cuts]) =>
  Object.entries(cuts).flatMap(([name, cut]) => ACTIONS.map((action) => ({ path, name, cut, action }))),
);

/** What guardrails did, in the words of the record. */
const found = (record: any) =>
  stagesIn(record).flatMap(({ name, summary, data }) =>
    name === 'content-filter' ? [`${summary} ${data.direction}`] : [],
  );

describe.each(SENT)('a text of $path in $name', ({ path, cut, action }) => {
  it.each(SECONDS)(`meets a filter with the action ${action}: %s`, async (second) => {
    const key = keys[action];
    guarded.upstream.answer(plainMessage({ text: 'Fine.' }));
    const answer = await guarded.ask(key, path, { model: 'm/all', ...cut(FIRST, second) });
    const bodies = guarded.upstream.requests.map(({ body }) => body);
    expect(answer.status, answer.text).toBe(action === 'block' ? 403 : 200);
    if (action === 'block') {
      expect(bodies).toEqual([]);
      return;
    }
    const record = await guarded.recordOf(answer, key);
    const [body = ''] = bodies;
    if (action === 'redact') {
      expect(body).not.toContain('1111');
      expect(decoded(body).match(/\[CREDIT_CARD\]/g)).toHaveLength(1);
    } else expect(decoded(body)).toContain(second);
    expect(found(record)).toEqual([
      `${action === 'redact' ? 'Redacted' : 'Flagged'}: Credit card number (1 match) sent`,
    ]);
    expectComplete(receiptIn(record));
  });
});

const schemaOf = (...values: string[]) => ({
  type: 'object',
  properties: { kind: { type: 'string', enum: values } },
  required: ['kind'],
  additionalProperties: false,
});

/** Lists of texts in members of the request. */
const LISTS: Readonly<Record<string, [Path, string, (...values: string[]) => JsonObject]>> = {
  'stop sequences': ['/chat/completions', 'm/openai-chat', (...values) => ({ ...chat(GO_ON), stop: values })],
  'stop sequences of /messages': [
    '/messages',
    'm/anthropic-messages',
    (...values) => ({ ...messages(GO_ON), stop_sequences: values }),
  ],
  'parts of a prediction': [
    '/chat/completions',
    'm/openai-chat',
    (...values) => ({ ...chat(GO_ON), prediction: { type: 'content', content: values.map(text) } }),
  ],
  'values that a tool allows': [
    '/messages',
    'm/anthropic-messages',
    (...values) => ({ ...messages(GO_ON), tools: [{ name: 'look', input_schema: schemaOf(...values) }] }),
  ],
  'constants that a tool allows': [
    '/messages',
    'm/anthropic-messages',
    (...values) => {
      const kind = { anyOf: values.map((value) => ({ const: value })) };
      const input_schema = { type: 'object', properties: { kind } };
      return { ...messages(GO_ON), tools: [{ name: 'look', input_schema }] };
    },
  ],
  'values that an answer may have': [
    '/responses',
    'm/openai-responses',
    (...values) => ({
      input: 'Go on.',
      text: { format: { type: 'json_schema', name: 'kinds', schema: schemaOf(...values) } },
    }),
  ],
};
const LISTED = Object.entries(LISTS).flatMap(([name, [path, model, of]]) =>
  ACTIONS.map((action) => ({ name, path, model, of, action })),
);
const ANSWERED: Readonly<Record<string, Script>> = {
  'm/openai-chat': ANSWERS_OF['openai-chat']({ text: 'Fine.' }),
  'm/openai-responses': ANSWERS_OF['openai-responses']({ text: 'Fine.' }),
  'm/anthropic-messages': plainMessage({ text: 'Fine.' }),
};

describe.each(LISTED)('a text in $name', ({ path, model, of, action }) => {
  const ask = (...values: string[]) => {
    guarded.upstream.answer(ANSWERED[model] as Script);
    return guarded.ask(keys[action], path, { model, ...of(...values) });
  };

  it.each(SECONDS)(`meets a filter with the action ${action}: %s`, async (second) => {
    const answer = await ask(FIRST, second);
    expect(answer.status, answer.text).toBe(action === 'block' ? 403 : 200);
    if (action === 'block') {
      expect(guarded.upstream.requests).toEqual([]);
      return;
    }
    const [{ body } = { body: '' }] = guarded.upstream.requests;
    if (action === 'redact') {
      expect(body).not.toContain('1111');
      expect(body).toContain('my card: [CREDIT_CARD]');
      expect(body).toContain(', thanks');
    } else expect(body).toContain(second);
    const record = await guarded.recordOf(answer, keys[action]);
    expect(found(record)).toEqual([
      `${action === 'redact' ? 'Redacted' : 'Flagged'}: Credit card number (1 match) sent`,
    ]);
    expectComplete(receiptIn(record));
  });
});

const NUMERALS = ['4111', '1111', '1111', '1111'];

const askNumerals = async (name: string) => {
  const [path, model, of] = LISTS[name] as (typeof LISTS)[string];
  guarded.upstream.answer(ANSWERED[model] as Script);
  return guarded.ask(keys.block, path, { model, ...of(...NUMERALS) });
};

it.each(['values that a tool allows', 'constants that a tool allows', 'values that an answer may have'])(
  'a number among %s is no card because of the numbers beside it',
  async (name) => {
    const answer = await askNumerals(name);
    expect(answer.status, answer.text).toBe(200);
    expect(found(await guarded.recordOf(answer, keys.block))).toEqual([]);
  },
);

it.each(['stop sequences', 'stop sequences of /messages', 'parts of a prediction'])(
  'a number among %s is a card with the numbers beside it',
  async (name) => {
    const answer = await askNumerals(name);
    expect(answer.status, answer.text).toBe(403);
    expect(guarded.upstream.requests).toEqual([]);
  },
);

/** A body with the text of its files. */
function decoded(body: string): string {
  return body.replace(/base64,([\w+/=]+)/g, (_, data: string) => Buffer.from(data, 'base64').toString());
}

function serving({ body, frames }: WireAnswer): Script {
  return ({ json }) =>
    json?.stream === true
      ? [head(200, SSE), write(sse(frames as never)), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
}

const said = (...texts: string[]) => ({ type: 'message', role: 'assistant', content: texts.map(output) });

const ANSWERS: Readonly<Record<string, (one: string, other: string) => [string, WireAnswer]>> = {
  blocks: (one, other) => ['m/anthropic-messages', messagesAnswer([text(one), text(other)])],
  'parts of a message': (one, other) => ['m/openai-responses', responsesAnswer([said(one, other)])],
  messages: (one, other) => ['m/openai-responses', responsesAnswer([said(one), said(other)])],
  thoughts: (one, other) => [
    'm/openai-responses',
    responsesAnswer([
      {
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: one },
          { type: 'summary_text', text: other },
        ],
      },
      said('Fine.'),
    ]),
  ],
};
const RECEIVED = Object.entries(ANSWERS).flatMap(([name, of]) =>
  WAYS.flatMap(([path, stream]) => ACTIONS.map((action) => ({ name, of, path, stream, action }))),
);

describe.each(RECEIVED)('an answer in $name, to $path, stream $stream', ({ of, path, stream, action }) => {
  it.each(SECONDS)(`meets a filter with the action ${action}: %s`, async (second) => {
    const key = keys[action];
    const [model, answered] = of(FIRST, second);
    guarded.upstream.answer(serving(answered));
    const answer = await guarded.ask(key, path, { model, stream, ...FORMATS[path].of('Hello.') });
    const record = await guarded.recordOf(answer, key);
    if (action === 'flag') {
      expect(shownText(answer)).toContain('4111 1111');
      expect(shownText(answer)).toContain('thanks');
      expect(found(record)).toEqual(['Flagged: Credit card number (1 match) received']);
    } else {
      expect(answer.text).not.toContain('1111');
      if (action === 'block') expect(answer.text).toContain('blocked by content filter: Credit card number');
      else {
        expect(shownText(answer)).toContain('my card: [CREDIT_CARD]');
        expect(shownText(answer)).toContain(', thanks');
        expect(found(record)).toEqual(['Redacted: Credit card number (1 match) received']);
      }
    }
    // What follows a block in the same answer is withheld unread.
    if (action !== 'block') expectComplete(receiptIn(record));
    expect(guarded.gateway.logged('a guardrail did not scan all of a generation')).toEqual([]);
  });
});

const LEGS = WAYS.flatMap(([path, stream]) => ACTIONS.map((action) => ({ path, stream, action })));

describe.each(LEGS)('an answer that a tool of the gateway cuts, to $path, stream $stream', (way) => {
  const { path, stream, action } = way;
  const key = () => keys[action];
  const calling = (given: string) =>
    plainMessage({ text: given, tools: [{ name: 'datetime', arguments: '{}' }] });
  const ask = async (...answers: Script[]) => {
    for (const each of answers) guarded.upstream.answer(each);
    const body = { model: 'm/anthropic-messages', stream, tools: [{ type: 'signalbox:datetime' }] };
    return guarded.ask(key(), path, { ...body, ...FORMATS[path].of('Hello.') });
  };

  it.each(SECONDS)(`meets a filter with the action ${action}: %s`, async (second) => {
    const answer = await ask(calling(FIRST), plainMessage({ text: second }));
    const record = await guarded.recordOf(answer, key());
    if (action === 'block') {
      expect(answer.text).toContain('blocked by content filter: Credit card number');
      expect(answer.text).not.toContain('thanks');
      return;
    }
    const verb = action === 'redact' ? 'Redacted' : 'Flagged';
    expect(found(record)).toContain(`${verb}: Credit card number (1 match) received`);
    expect(shownText(answer)).toContain(', thanks');
    // The first text has gone on: what the match takes of the second is left out.
    expect(shownText(answer).includes('1111 1111, thanks')).toBe(action === 'flag');
    expectComplete(receiptIn(record));
  });

  it('is not changed where the texts make no match together', async () => {
    const answer = await ask(calling(FIRST), calling('It is'), plainMessage({ text: ' 5, thanks' }));
    expect(answer.status, answer.text).toBe(200);
    expect(found(await guarded.recordOf(answer, key()))).toEqual([]);
    expect(shownText(answer)).toContain(' 5, thanks');
  });

  it('is found where a call alone stands between the texts', async () => {
    const silent = plainMessage({ tools: [{ name: 'datetime', arguments: '{}' }] });
    const answer = await ask(calling(FIRST), silent, plainMessage({ text: '1111 1111, thanks' }));
    const record = await guarded.recordOf(answer, key());
    expect(shownText(answer).includes('1111 1111, thanks')).toBe(action === 'flag');
    if (action !== 'block') expect(found(record)).toHaveLength(1);
  });
});

it.each(WAYS)('holds a tail back no longer than it must: %s, stream %s', async (path, stream) => {
  const call = { type: 'tool_use', id: 'c1', name: 'look', input: { a: '1111 1111' } };
  const tools =
    path === '/messages'
      ? [{ name: 'look', input_schema: { type: 'object' } }]
      : path === '/responses'
        ? [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
        : [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  guarded.upstream.answer(
    serving(messagesAnswer([text('It is 4111 1111'), call], { stop_reason: 'tool_use' })),
  );
  const body = { model: 'm/anthropic-messages', stream, tools, ...FORMATS[path].of('Hello.') };
  const answer = await guarded.ask(keys.block, path, body);
  expect(answer.status, answer.text).toBe(200);
  expect(shownText(answer)).toContain('4111 1111');
  expect(answer.text).toContain('look');
});
