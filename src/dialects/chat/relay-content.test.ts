import { describe, expect, it } from 'vitest';
import { requestWith } from '../../../test/kit/fixtures/chat/chat-fixture.ts';
import { Places } from '../../ir/places.ts';
import type { Quirks } from '../../ir/quirks.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { NO_RESULT } from '../shared/pairing/pair-calls.ts';
import { Report } from '../shared/report/report.ts';
import { facts } from './facts.ts';
import { renderRelay } from './relay.ts';
import { relayMessages } from './relay-content.ts';

const user = (content: string): JsonObject => ({ role: 'user', content });
const calls = (...ids: string[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const result = (id: string, content = '7'): JsonObject => ({ role: 'tool', tool_call_id: id, content });

function relayed(...messages: JsonObject[]) {
  return relayedWith({}, ...messages);
}

function relayedWith(quirks: Quirks, ...messages: JsonObject[]) {
  const report = new Report({ formatFacts: facts.request, places: new Places() });
  const sent = relayMessages(messages, { model: 'm', quirks, hashUser: (id) => id }, report);
  const entries = report.entries.map(({ field, action }) => `${field} ${action}`);
  return { sent: sent as JsonObject[], entries, isSame: sent === messages };
}

describe('arguments in the relay lane', () => {
  const called = (text: string) => {
    const [call = {}] = objectsAt(calls('a'), 'tool_calls');
    return { ...calls('a'), tool_calls: [{ ...call, function: { name: 'f', arguments: text } }] };
  };

  it.each([
    ['{"city": "Ki', '{"raw":"{\\"city\\": \\"Ki"}'],
    ['{"a":{"b":1}', '{"raw":"{\\"a\\":{\\"b\\":1}"}'],
    ['[1]', '{"raw":"[1]"}'],
  ])('that are no JSON object, as %s, are put into one', (text, sent) => {
    const { sent: messages, entries } = relayed(user('q'), called(text), result('a'));
    expect(messages[1]).toEqual(called(sent));
    expect(entries).toEqual(['messages[1].tool_calls[0].function.arguments coerced']);
  });

  it('that are empty are an empty object, and others stay as they are', () => {
    const { sent, entries } = relayed(user('q'), called(''), result('a'));
    expect(sent[1]).toEqual(called('{}'));
    expect(entries).toEqual([]);
    expect(relayed(user('q'), called(' {"n": 1.50} '), result('a')).isSame).toBe(true);
  });
});

describe('calls and results in the relay lane', () => {
  it('that are pairs are passed on themselves', () => {
    const turn = [calls('a', 'b'), result('b'), result('a')];
    expect(relayed(user('q'), ...turn, ...structuredClone(turn)).isSame).toBe(true);
  });

  it('a call without a result gets one after the results of its turn', () => {
    const { sent, entries } = relayed(user('q'), calls('a', 'b'), result('b'), user('So?'), calls('c'));
    expect(sent.slice(2)).toEqual([
      result('b'),
      result('a', NO_RESULT),
      user('So?'),
      calls('c'),
      result('c', NO_RESULT),
    ]);
    expect(entries).toEqual(['messages[1].tool_calls[0] coerced', 'messages[4].tool_calls[0] coerced']);
  });

  it('a result that comes later is put behind its call', () => {
    const { sent, entries } = relayed(calls('a', 'b'), result('b'), user('Wait'), calls('c'), result('a'));
    expect(sent).toEqual([
      calls('a', 'b'),
      result('b'),
      result('a'),
      user('Wait'),
      calls('c'),
      result('c', NO_RESULT),
    ]);
    expect(entries).toEqual(['messages[4] coerced', 'messages[3].tool_calls[0] coerced']);
  });

  it('calls of one turn with one id get ids of their own, and so do their results, in order', () => {
    const { sent, entries } = relayed(calls('a', 'a'), result('a', '1'), result('a', '2'));
    const ids = objectsAt(sent[0], 'tool_calls').map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(sent.slice(1)).toEqual([result(String(ids[0]), '1'), result(String(ids[1]), '2')]);
    expect(entries).toEqual([]);
  });

  it('a second result is what the user says, after what is missing', () => {
    const { sent, entries } = relayed(user('q'), calls('a', 'b'), result('a'), result('a', '8'));
    expect(sent.slice(2)).toMatchObject([
      result('a'),
      result('b', NO_RESULT),
      { role: 'user', content: [{ text: 'Output of tool call a:' }, { text: '8' }] },
    ]);
    expect(entries).toEqual(['messages[1].tool_calls[1] coerced', 'messages[3] coerced']);
  });
});

describe('quirks in the relay lane', () => {
  const turn = [user('q'), calls('abcdefghi'), result('abcdefghi'), user('So?')];

  it.each<Quirks>([
    { answerForm: 'cohere' },
    { billsAbandoned: true, refusedFields: ['seed'] },
    { refusesDeveloperRole: true, refusesTextLists: true, toolCallIds: 'nine-alphanumerics' },
  ])('leave a list alone in which they change nothing: %j', (quirks) => {
    expect(relayedWith(quirks, ...turn).isSame).toBe(true);
  });

  it('change a message and keep the others', () => {
    const rule = { role: 'developer', content: 'Be brief', name: 'n' };
    const { sent } = relayedWith({ refusesDeveloperRole: true }, rule, ...turn);
    expect(JSON.stringify(sent[0])).toBe('{"role":"system","content":"Be brief","name":"n"}');
    expect(sent.slice(1).every((message, at) => message === turn[at])).toBe(true);
  });

  it('leave thoughts alone that have the name which the provider reads', () => {
    const said = { role: 'assistant', reasoning_content: 'Hm', content: 'Hi' };
    expect(relayedWith({ thoughtsMember: 'reasoning_content' }, said).isSame).toBe(true);
    expect(relayedWith({ thoughtsMember: 'reasoning' }, said).sent).toEqual([
      { role: 'assistant', content: 'Hi', reasoning: 'Hm' },
    ]);
  });

  it('keep the order of the members of the body', () => {
    const request = requestWith({ messages: turn, temperature: 1, seed: 2 });
    const members = (quirks: Quirks) =>
      Object.keys(renderRelay(request, { model: 'm', quirks, hashUser: (id) => id }).body);
    expect(members({ answerForm: 'cohere' })).toEqual(members({}));
  });
});
