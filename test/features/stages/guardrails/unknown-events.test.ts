import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/kit/json/json.ts';
import { sse } from '../../../kit/fakes/answers.ts';
import {
  end,
  type FakeUpstream,
  head,
  openFakeUpstream,
  reply,
  SSE,
  write,
} from '../../../kit/fakes/fake-upstream.ts';
import { FORMATS } from '../plugins/formats.ts';
import { expectComplete, type GuardedGateway, openGuardedGateway, receiptIn } from './guarded-gateway.ts';

/** Texts of events that the gateway does not model, cut in two: a guardrail reads them as it reads an answer. */

let guarded: GuardedGateway;
let service: FakeUpstream;

beforeAll(async () => {
  service = await openFakeUpstream();
  guarded = await openGuardedGateway({ egress: { allow: ['127.0.0.1'] } });
});
beforeEach(() => {
  guarded.upstream.clear();
  service.clear();
});
afterAll(async () => {
  await guarded.close();
  await service.close();
});

const SHELL = { type: 'shell_call', id: 'sh_1', call_id: 'c1', action: { commands: [] } };

const piece = (delta: string) => ({
  type: 'response.shell_call_output_content.delta',
  output_index: 0,
  item_id: 'sh_1',
  delta: { stdout: delta },
});
const unknown = (delta: string) => ({ type: 'told_by_next_year', delta });
const told = (text: string) => ({ type: 'told_by_next_year', note: { text } });
const of = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta });

const STREAMS: Readonly<Record<string, (one: string, other: string) => readonly JsonObject[]>> = {
  '/responses: progress of a tool': (one, other) => responsesOf(piece(one), piece(other)),
  '/responses: events of no published type': (one, other) => responsesOf(unknown(one), unknown(other)),
  '/messages: events of no published type': (one, other) => messageOf(unknown(one), unknown(other)),
  '/messages: deltas of no published type': (one, other) =>
    messageOf(of(0, { type: 'tone_delta', tone: one }), of(0, { type: 'tone_delta', tone: other })),
};

function responsesOf(...events: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: SHELL },
    ...events,
    { type: 'response.output_item.done', output_index: 0, item: { ...SHELL, status: 'completed' } },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } },
  ];
}

function messageOf(...events: readonly JsonObject[]): readonly JsonObject[] {
  const usage = { input_tokens: 3, output_tokens: 2 };
  return [
    { type: 'message_start', message: { id: 'm', role: 'assistant', model: 'x', content: [], usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...events,
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
}

async function ask(key: string, name: string, events: readonly JsonObject[]) {
  const frames = events.map((data) => ({ event: String(data.type), data }));
  guarded.upstream.answer([head(200, SSE), write(sse(frames)), end()]);
  const path = name.startsWith('/responses') ? '/responses' : '/messages';
  const model = path === '/responses' ? 'm/openai-responses' : 'm/anthropic-messages';
  return guarded.ask(key, path, { model, stream: true, ...FORMATS[path].of('Hello.') });
}

function textIn(events: readonly { data: any }[]): string {
  return events
    .map(({ data: { delta } }) =>
      typeof delta === 'string' ? delta : (delta?.stdout ?? delta?.tone ?? delta?.text ?? ''),
    )
    .join('');
}

describe.each(Object.entries(STREAMS))('%s', (name, streamOf) => {
  const filtered = (action: string) =>
    guarded.guard({ content_filter_builtins: [{ slug: 'credit-card', action }] });

  it('go on whole where nothing is found', async () => {
    const answer = await ask(await filtered('block'), name, streamOf('one 41', '11 two'));
    expect(answer.status, answer.text).toBe(200);
    expect(textIn(answer.events)).toBe('one 4111 two');
  });

  it('are redacted', async () => {
    const key = await filtered('redact');
    const answer = await ask(key, name, streamOf('one 4111 1111', ' 1111 1111 two'));
    expect(textIn(answer.events)).toBe('one [CREDIT_CARD] two');
    expect(answer.text).not.toContain('1111');
    expectComplete(receiptIn(await guarded.recordOf(answer, key)));
  });

  it('are blocked', async () => {
    const answer = await ask(await filtered('block'), name, streamOf('one 4111 1111', ' 1111 1111 two'));
    expect(answer.text).toContain('blocked by content filter: Credit card number');
    expect(answer.text).not.toContain('1111');
  });

  it.each([{}, { window_characters: 1 }])('are judged as one text by a service: %j', async (more) => {
    service.answer(({ json }) => {
      const texts = json.texts.map(({ text }: { text: string }) => text.replace('Ada Lovelace', '[A NAME]'));
      return reply(200, { action: 'replace', reason: 'Names', texts }) as never;
    });
    const rules = { service: { url: `${service.url}/judge`, timeout_ms: 20_000, ...more } };
    const answer = await ask(await guarded.guard(rules), name, streamOf('Ask Ada Lo', 'velace, please'));
    expect(textIn(answer.events)).toBe('Ask [A NAME], please');
    expect(answer.text).not.toMatch(/Ada Lo|velace/);
  });
});

it.each([
  ['/responses', responsesOf],
  ['/messages', messageOf],
])('lets no other text of such events go on from the last one: %s', async (path, streamOf) => {
  const key = await guarded.guard({ content_filter_builtins: [{ slug: 'credit-card', action: 'redact' }] });
  const answer = await ask(key, path, streamOf(told('one 4111 1111'), told(' 1111 1111 two')));
  const notes = answer.events.flatMap(({ data }) => (data.note === undefined ? [] : [data.note.text]));
  expect(notes).toEqual(['one 4111 1111', expect.not.stringContaining('1111')]);
  expect(notes[1]).toContain('two');
});
