import { describe, expect, it } from 'vitest';
import { Places } from '../../ir/places.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectsAt } from '../../kit/json/members.ts';
import { NO_RESULT } from '../shared/pairing/pair-calls.ts';
import { Report } from '../shared/report/report.ts';
import { facts } from './facts.ts';
import { relayMessages } from './relay-content.ts';
import type { WireMessage } from './wire.ts';

const user = (content: string | JsonObject[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const system = (content: string): JsonObject => ({ role: 'system', content });
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string, content = '7'): JsonObject => ({ type: 'tool_result', tool_use_id: id, content });

function relayed(...given: JsonObject[]) {
  const report = new Report({ formatFacts: facts.request, places: new Places() });
  const list = given as unknown as WireMessage[];
  const { system: prompt, messages } = relayMessages(list, report);
  const entries = report.entries.map(({ field, action }) => `${field} ${action}`);
  return { prompt, messages, entries, isSame: (messages as unknown) === list };
}

it('a conversation in which all is well is passed on itself', () => {
  const thought = { type: 'thinking', thinking: 't', signature: 's' };
  const { isSame, entries } = relayed(user('q'), assistant(thought, use('a')), user([result('a')]));
  expect(isSame).toBe(true);
  expect(entries).toEqual([]);
});

describe('calls and results', () => {
  it('a call without a result gets one at the front of the next turn of the user', () => {
    const { messages, entries } = relayed(
      user('q'),
      assistant(use('a'), use('b')),
      user([result('b'), text('So?')]),
    );
    expect(messages[2]).toEqual(user([result('a', NO_RESULT), result('b'), text('So?')]));
    expect(entries).toEqual(['messages[1].content[0] coerced']);
  });

  it('a call at the end gets a turn of its own', () => {
    expect(relayed(user('q'), assistant(use('a'))).messages.at(-1)).toEqual(user([result('a', NO_RESULT)]));
  });

  it('a second result is what the user says', () => {
    const { messages, entries } = relayed(
      user('q'),
      assistant(use('a')),
      user([result('a'), result('a', '8')]),
    );
    expect(messages[2]).toEqual(user([result('a'), text('Output of tool call a:'), text('8')]));
    expect(entries).toEqual(['messages[2].content[1] coerced']);
  });

  it('calls of several turns may share an id', () => {
    const turn = [assistant(use('a')), user([result('a')])];
    expect(relayed(user('q'), ...turn, ...structuredClone(turn)).isSame).toBe(true);
  });

  it('results stand before the other blocks of their turn', () => {
    const { messages, entries } = relayed(user('q'), assistant(use('a')), user([text('So'), result('a')]));
    expect(messages[2]).toEqual(user([result('a'), text('So')]));
    expect(entries).toEqual(['messages[2].content coerced']);
  });

  it('a result of a later turn is put behind its call', () => {
    const { messages, entries } = relayed(
      user('q'),
      assistant(use('a')),
      user([text('Wait')]),
      assistant(text('Well')),
      user([result('a'), text('So')]),
    );
    expect(messages.slice(2)).toEqual([
      user([result('a'), text('Wait')]),
      assistant(text('Well')),
      user([text('So')]),
    ]);
    expect(entries).toEqual(['messages[4].content[0] coerced']);
  });

  it('calls of one turn with one id get ids of their own', () => {
    const { messages } = relayed(user('q'), assistant(use('a'), use('a')), user([result('a'), result('a')]));
    const idsOf = (at: number, member: string) =>
      objectsAt(messages[at], 'content').map((block) => block[member]);
    expect(new Set(idsOf(1, 'id')).size).toBe(2);
    expect(idsOf(2, 'tool_use_id')).toEqual(idsOf(1, 'id'));
  });
});

describe('thoughts without a seal', () => {
  it('are left out', () => {
    const thought = { type: 'thinking', thinking: 't', signature: '' };
    const redacted = { type: 'redacted_thinking', data: '' };
    const { messages, entries } = relayed(user('q'), assistant(thought, redacted, text('a')), user('b'));
    expect(messages[1]).toEqual(assistant(text('a')));
    expect(entries).toEqual(['messages[1].content[0] dropped', 'messages[1].content[1] dropped']);
  });
});

describe('system prompts in the list', () => {
  it('go to the system prompt from the front', () => {
    const { prompt, messages, entries } = relayed(system('s1'), system('s2'), user('q'));
    expect(prompt).toEqual([text('s1'), text('s2')]);
    expect(messages).toEqual([user('q')]);
    expect(entries).toEqual([]);
  });

  it('become user text between turns, as part of the turn beside them', () => {
    const { messages, entries } = relayed(user('q'), assistant(text('a')), system('s'), user('b'));
    expect(messages[2]).toEqual(user([text('<system>'), text('s'), text('</system>'), text('b')]));
    expect(entries).toEqual(['messages[2] coerced']);
  });

  it('never stand between calls and their results', () => {
    const { messages } = relayed(
      user('q'),
      assistant(use('a')),
      system('s'),
      user([result('a')]),
      system('t'),
    );
    expect(messages).toHaveLength(3);
    expect(messages[2]).toEqual(
      user([
        result('a'),
        ...['<system>', 's', '</system>', '<system>', 't', '</system>'].map((words) => text(words)),
      ]),
    );
  });

  it('become user text if the conversation has no other message', () => {
    const { prompt, messages, entries } = relayed(system('s'), system('q'));
    expect([prompt, messages]).toEqual([[text('s')], [user('q')]]);
    expect(entries).toEqual(['messages[1] coerced']);
  });

  it('that say nothing are no turn', () => {
    const { messages, entries } = relayed(user('q'), system(''), assistant(text('a')));
    expect(messages).toEqual([user('q'), assistant(text('a'))]);
    expect(entries).toEqual([]);
  });
});
