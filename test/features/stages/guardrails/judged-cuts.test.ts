import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../src/kit/json/json.ts';
import { messagesAnswer as plainMessage, sse } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  openFakeUpstream,
  reply,
  type Script,
  SSE,
  type Step,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { messagesAnswer } from '../../../laws/matrix/answers/messages.ts';
import { responsesAnswer } from '../../../laws/matrix/answers/responses.ts';
import type { WireAnswer } from '../../../laws/matrix/answers/wire-answer.ts';
import { FORMATS, type Path, WAYS } from '../plugins/formats.ts';
import {
  expectComplete,
  type GuardedGateway,
  openGuardedGateway,
  receiptIn,
  shownText,
  stagesIn,
} from './guarded-gateway.ts';

/** What services find, they find as well when it is cut into parts, blocks or messages. */

let guarded: GuardedGateway;
let service: FakeUpstream;
let presidio: FakeUpstream;

beforeAll(async () => {
  [service, presidio] = await Promise.all([openFakeUpstream(), openFakeUpstream()]);
  guarded = await openGuardedGateway({
    egress: { allow: ['127.0.0.1'] },
    guardrails: { presidio_url: presidio.url },
  });
});
beforeEach(() => {
  for (const fake of [service, presidio, guarded.upstream]) fake.clear();
  service.answer(({ json }) => reply(200, verdictOn(json.texts)) as readonly Step[]);
  presidio.answer(({ json }) => reply(200, entitiesIn(json.text)) as readonly Step[]);
});
afterAll(async () => {
  await guarded.close();
  await service.close();
  await presidio.close();
});

const NAME = /Ada Lovelace|Falcon/g;

/** As services of operators work, which know nothing of rows: each text by itself. */
let action = 'replace';
function verdictOn(texts: { text: string }[]): JsonObject {
  if (!texts.some(({ text }) => text.search(NAME) >= 0)) return { action: 'allow' };
  if (action === 'block') return { action, reason: 'Names' };
  return { action, reason: 'Names', texts: texts.map(({ text }) => text.replace(NAME, '[A NAME]')) };
}

function entitiesIn(text: string) {
  return [...text.matchAll(NAME)].map(({ 0: name, index }) => {
    const start = [...text.slice(0, index)].length;
    return { entity_type: 'PERSON', start, end: start + [...name].length, score: 0.9 };
  });
}

interface Engine {
  readonly rules: (wanted: 'replace' | 'block') => JsonObject;
  readonly label: string;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  'a service': {
    rules: () => ({ service: { url: `${service.url}/judge`, timeout_ms: 20_000 } }),
    label: '[A NAME]',
  },
  'a service in windows': {
    rules: () => ({ service: { url: `${service.url}/judge`, timeout_ms: 20_000, window_characters: 1 } }),
    label: '[A NAME]',
  },
  presidio: {
    rules: (wanted) => ({
      content_filter_builtins: [{ slug: 'person-name', action: wanted === 'block' ? 'block' : 'redact' }],
    }),
    label: '[PERSON_NAME]',
  },
};

/** With the cut between two words, with or without a blank, and inside of one. */
const CUTS = [
  ['🎉 Ask Ada', ' Lovelace, please.'],
  ['🎉 Ask Ada', 'Lovelace, please.'],
  ['🎉 Ask Fal', 'con, please.'],
] as const;

const text = (given: string) => ({ type: 'text', text: given });
const input = (given: string) => ({ type: 'input_text', text: given });
const user = (content: Json) => ({ role: 'user', content });

type Cut = (one: string, other: string) => JsonObject;
const REQUESTS: Readonly<Record<Path, Readonly<Record<string, Cut>>>> = {
  '/chat/completions': {
    parts: (one, other) => ({ messages: [user([text(one), text(other)])] }),
    messages: (one, other) => ({ messages: [user(one), user(other)] }),
  },
  '/responses': {
    parts: (one, other) => ({ input: [user([input(one), input(other)])] }),
    messages: (one, other) => ({ input: [user(one), user(other)] }),
    'instructions and a message': (one, other) => ({
      instructions: one,
      input: [{ role: 'system', content: other }, user('Go on.')],
    }),
  },
  '/messages': {
    blocks: (one, other) => ({ max_tokens: 99, messages: [user([text(one), text(other)])] }),
    messages: (one, other) => ({ max_tokens: 99, messages: [user(one), user(other)] }),
  },
};
const SENT = Object.entries(REQUESTS).flatMap(([path, cuts]) =>
  Object.entries(cuts).flatMap(([name, cut]) =>
    Object.entries(ENGINES)
      .filter(([engine]) => engine !== 'a service in windows')
      .map(([engine, of]) => ({ path, name, cut, engine, of })),
  ),
);

describe.each(SENT)('$engine judges $path in $name', ({ path, cut, of }) => {
  it.each(CUTS)('%j and %j joined', async (one, other) => {
    action = 'replace';
    guarded.upstream.answer(plainMessage({ text: 'Fine.' }));
    const key = await guarded.guard(of.rules('replace'));
    const body = { model: 'm/anthropic-messages', ...cut(one, other) };
    const answer = await guarded.ask(key, path, body);
    expect(answer.status, answer.text).toBe(200);
    const sent = guarded.upstream.requests[0]?.body ?? '';
    expect(sent).not.toMatch(/Ada|Lovelace|Fal|con,/);
    expect(sent).toContain(`Ask ${of.label}"`);
    expect(sent).toContain(', please.');
    const record = await guarded.recordOf(answer, key);
    const stages = stagesIn(record).filter(({ data }) => data.action === 'redacted');
    expect(stages.map(({ summary }) => summary)).toEqual([expect.stringContaining('(1 match)')]);
    expectComplete(receiptIn(record));
  });

  it('and blocks what spans a cut', async () => {
    action = 'block';
    const [one, other] = CUTS[0];
    const key = await guarded.guard(of.rules('block'));
    const answer = await guarded.ask(key, path, { model: 'm/anthropic-messages', ...cut(one, other) });
    expect(answer.status, answer.text).toBe(403);
    expect(guarded.upstream.requests).toEqual([]);
  });
});

it('keeps each replacement of a text where a service replaces in its neighbour too', async () => {
  action = 'replace';
  guarded.upstream.answer(plainMessage({ text: 'Fine.' }));
  const key = await guarded.guard(ENGINES['a service']?.rules('replace') ?? {});
  const parts = ['Falcon asks Ada', 'Lovelace of Falcon.', 'Falcon', 'con'].map(text);
  await guarded.ask(key, '/chat/completions', { model: 'm/openai-chat', messages: [user(parts)] });
  const sent = guarded.upstream.requests[0]?.json.messages[0].content;
  const texts = typeof sent === 'string' ? sent : sent.map((part: any) => part.text).join('|');
  expect(texts.replace(/\n+/g, '|')).toBe('[A NAME] asks [A NAME]| of [A NAME].|[A NAME]|con');
  const [judged] = service.requests.map(({ json }) => json.texts);
  expect(judged.map(({ joined }: any) => joined)).toEqual([undefined, undefined, undefined, undefined, 4, 4]);
});

it('costs nothing for a text without neighbours', async () => {
  action = 'replace';
  guarded.upstream.answer(plainMessage({ text: 'Fine.' }));
  const key = await guarded.guard(ENGINES['a service']?.rules('replace') ?? {});
  const messages = [user('Hello.'), { role: 'assistant', content: 'Yes?' }, user('Ask Ada Lovelace.')];
  await guarded.ask(key, '/chat/completions', { model: 'm/openai-chat', messages });
  expect(service.requests[0]?.json.texts).toHaveLength(3);
});

function serving({ body, frames }: WireAnswer): Script {
  return ({ json }) =>
    json?.stream === true
      ? [head(200, SSE), write(sse(frames as never)), end()]
      : [head(200, JSON_TYPE), write(JSON.stringify(body)), end()];
}

const output = (given: string) => ({ type: 'output_text', text: given, annotations: [] });
const said = (...texts: string[]) => ({ type: 'message', role: 'assistant', content: texts.map(output) });
const ANSWERS: Readonly<Record<string, (one: string, other: string) => [string, WireAnswer]>> = {
  blocks: (one, other) => ['m/anthropic-messages', messagesAnswer([text(one), text(other)])],
  'parts of a message': (one, other) => ['m/openai-responses', responsesAnswer([said(one, other)])],
  messages: (one, other) => ['m/openai-responses', responsesAnswer([said(one), said(other)])],
  thoughts: (one, other) => [
    'm/openai-responses',
    responsesAnswer([
      { type: 'reasoning', summary: [one, other].map((each) => ({ type: 'summary_text', text: each })) },
      said('Fine.'),
    ]),
  ],
};
const RECEIVED = Object.entries(ANSWERS).flatMap(([name, answered]) =>
  WAYS.flatMap(([path, stream]) =>
    Object.entries(ENGINES).map(([engine, of]) => ({ name, answered, path, stream, engine, of })),
  ),
);

describe.each(RECEIVED)(
  '$engine judges $name for $path, stream $stream',
  ({ answered, path, stream, of }) => {
    it.each(CUTS)('%j and %j joined', async (one, other) => {
      action = 'replace';
      const [model, wire] = answered(one, other);
      guarded.upstream.answer(serving(wire));
      const key = await guarded.guard(of.rules('replace'));
      const answer = await guarded.ask(key, path, { model, stream, ...FORMATS[path].of('Hello.') });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).not.toMatch(/\bAda\b|Lovelace|\bFal\b|con,/);
      expect(shownText(answer)).toContain(`Ask ${of.label}`);
      expect(shownText(answer)).toContain(', please.');
      expectComplete(receiptIn(await guarded.recordOf(answer, key)));
    });
  },
);
