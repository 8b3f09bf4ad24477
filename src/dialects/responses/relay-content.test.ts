import { describe, expect, it } from 'vitest';
import { Places } from '../../ir/places.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { NO_RESULT } from '../shared/pairing/pair-calls.ts';
import { Report } from '../shared/report/report.ts';
import { facts } from './facts.ts';
import { relayInput } from './relay-content.ts';

const user = (content: string): JsonObject => ({ role: 'user', content });
const call = (call_id: string): JsonObject => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{}',
});
const result = (call_id: string, output = '7'): JsonObject => ({
  type: 'function_call_output',
  call_id,
  output,
});

function relayed(...input: JsonObject[]) {
  const report = new Report({ formatFacts: facts.request, places: new Places() });
  const sent = relayInput({ input }, report);
  const entries = report.entries.map(({ field, action }) => `${field} ${action}`);
  return { sent: sent as JsonObject[], entries, isSame: sent === input };
}

describe('calls and results in the relay lane', () => {
  it('that are pairs are passed on themselves', () => {
    const turn = [call('a'), call('b'), result('a'), result('b')];
    expect(relayed(user('q'), ...turn, ...turn).isSame).toBe(true);
  });

  it('a call without a result gets one after all that the model says in that turn', () => {
    const custom = { type: 'custom_tool_call', call_id: 'c', name: 'g', input: '' };
    const { sent, entries } = relayed(
      user('q'),
      call('a'),
      custom,
      { type: 'web_search_call', id: 'w' },
      user('So?'),
    );
    expect(sent.slice(3)).toEqual([
      { type: 'web_search_call', id: 'w' },
      result('a', NO_RESULT),
      { type: 'custom_tool_call_output', call_id: 'c', output: NO_RESULT },
      user('So?'),
    ]);
    expect(entries).toEqual(['input[1] coerced', 'input[2] coerced']);
  });

  it('a call at the end gets one too', () => {
    expect(relayed(user('q'), call('a')).sent.at(-1)).toEqual(result('a', NO_RESULT));
  });

  it('a second result is what the user says', () => {
    const { sent, entries } = relayed(user('q'), call('a'), result('a'), result('a', '8'));
    expect(sent.slice(2)).toMatchObject([
      result('a'),
      { role: 'user', content: [{ text: 'Output of tool call a:' }, { text: '8' }] },
    ]);
    expect(entries).toEqual(['input[3] coerced']);
  });

  it('are not checked if earlier turns were compacted', () => {
    const compaction = { type: 'compaction', encrypted_content: 'e' };
    expect(relayed(compaction, result('a'), call('b')).isSame).toBe(true);
  });
});

describe('reasoning in the relay lane', () => {
  it('that has neither words nor a seal is left out: its id could not be looked up', () => {
    const empty = { type: 'reasoning', id: 'rs_1', summary: [] };
    const spoken = { ...empty, summary: [{ type: 'summary_text', text: 'hm' }] };
    const { sent, entries } = relayed(user('q'), empty, spoken, user('and?'));
    expect(sent).toEqual([user('q'), spoken, user('and?')]);
    expect(entries).toEqual(['input[1] dropped']);
  });
});

describe('null in the place of a list, in the relay lane', () => {
  it('becomes an empty list', () => {
    const said = { type: 'message', role: 'assistant', id: 'msg_1', status: 'completed', content: null };
    const raw = [{ type: 'reasoning_text', text: 'Hm.' }];
    const summary = [{ type: 'summary_text', text: 'Hm.' }];
    const { sent, entries } = relayed(
      said,
      { type: 'reasoning', id: 'rs_1', summary: null, content: raw },
      { type: 'reasoning', id: 'rs_2', summary, content: null },
    );
    expect(sent).toEqual([
      { ...said, content: [] },
      { type: 'reasoning', id: 'rs_1', summary: [], content: raw },
      { type: 'reasoning', id: 'rs_2', summary, content: [] },
    ]);
    expect(entries).toEqual([]);
  });
});

describe('calls of tools that a provider ran itself', () => {
  const own = { type: 'custom_tool_call', call_id: 'x', name: 'x_keyword_search', input: '{}' };
  const caller = { ...own, call_id: 'c', name: 'g' };
  const body = { input: [user('q'), own, caller], tools: [{ type: 'custom', name: 'g' }] };

  it('go back to it without a result', () => {
    const report = new Report({ formatFacts: facts.request, places: new Places() });
    expect(relayInput(body, report, { showsOwnCallsAsCustom: true })).toEqual([
      ...body.input,
      { type: 'custom_tool_call_output', call_id: 'c', output: NO_RESULT },
    ]);
  });

  it('keep the results that the caller has for them', () => {
    const given = [own, { type: 'custom_tool_call_output', call_id: 'x', output: '7' }];
    const report = new Report({ formatFacts: facts.request, places: new Places() });
    expect(relayInput({ input: given }, report, { showsOwnCallsAsCustom: true })).toEqual(given);
  });
});
