import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/kit/json/json.ts';
import { messagesAnswer as plainMessage, sse } from '../fakes/answers.ts';
import { end, head, JSON_TYPE, type Script, SSE, write } from '../fakes/fake-upstream.ts';
import { messagesAnswer } from '../matrix/answers/messages.ts';
import { responsesAnswer } from '../matrix/answers/responses.ts';
import type { WireAnswer } from '../matrix/answers/wire-answer.ts';
import { FORMATS, type Path, WAYS } from '../plugins/formats.ts';
import {
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

type Cut = (one: string, other: string) => JsonObject;

const REQUESTS: Readonly<Record<Path, Readonly<Record<string, Cut>>>> = {
  '/chat/completions': {
    parts: (one, other) => chat(user([text(one), text(other)])),
    'parts around a picture': (one, other) =>
      chat(user([text(one), { type: 'image_url', image_url: { url: 'https://a.test/a.png' } }, text(other)])),
    messages: (one, other) => chat(user(one), user(other)),
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
