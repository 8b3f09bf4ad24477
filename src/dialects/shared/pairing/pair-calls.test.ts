import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestOf } from '../../../../test/kit/builders/request.ts';
import { withPairs } from '../../../../test/kit/builders/with-pairs.ts';
import type { Item } from '../../../ir/items.ts';
import { Report } from '../report/report.ts';
import { pairCalls } from './pair-calls.ts';

const callId = fc.constantFrom('a', 'b', 'c');
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    content: fc.constant([{ type: 'text' as const, text: 'x' }]),
  }),
  fc.record({
    type: fc.constant('tool-call' as const),
    kind: fc.constant('function' as const),
    callId,
    name: fc.constant('f'),
    input: fc.constant('{}'),
  }),
  fc.record(
    {
      type: fc.constant('tool-result' as const),
      kind: fc.constant('function' as const),
      callId,
      content: fc.constant([{ type: 'text' as const, text: 'r' }]),
      cache: fc.constant({}),
    },
    { requiredKeys: ['type', 'kind', 'callId', 'content'] },
  ),
);
const items = fc.array(item, { maxLength: 12 });

describe('pairing calls with their results', () => {
  it('leaves no call unanswered and no answer without its call', () => {
    fc.assert(
      fc.property(items, (given) => {
        const open: string[] = [];
        for (const each of pairCalls(given, new Report(requestOf()))) {
          if (each.type === 'tool-call') open.push(each.callId);
          if (each.type !== 'tool-result') continue;
          expect(open).toContain(each.callId);
          open.splice(open.indexOf(each.callId), 1);
        }
        expect(open).toEqual([]);
      }),
    );
  });

  it('reports each change and loses no content', () => {
    fc.assert(
      fc.property(items, (given) => {
        const report = new Report(requestOf());
        const paired = pairCalls(given, report);
        if (paired === given) expect(report.entries).toEqual([]);
        const texts = (list: readonly Item[]) => JSON.stringify(list).match(/"text":"[xr]"/g) ?? [];
        expect(texts(paired).toSorted()).toEqual(texts(given).toSorted());
      }),
    );
  });

  it('puts results behind the calls of their turn, and gives calls that share an id others', () => {
    const call = { type: 'tool-call', kind: 'function', callId: 'a', name: 'f', input: '{}' } as const;
    const result = (text: string): Item => ({
      type: 'tool-result',
      kind: 'function',
      callId: 'a',
      content: [{ type: 'text', text }],
    });
    const said: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] };
    const report = new Report(requestOf());
    const paired = pairCalls([call, { ...call }, said, result('1'), result('2')], report);
    expect(paired.map(({ type }) => type)).toEqual([
      'tool-call',
      'tool-call',
      'tool-result',
      'tool-result',
      'message',
    ]);
    const [first, second, ...results] = paired.flatMap((each) => ('callId' in each ? [each.callId] : []));
    expect(first).not.toBe(second);
    expect(results).toEqual([first, second]);
    expect(paired[2]).toMatchObject({ content: [{ text: '1' }] });
    expect(report.entries).toMatchObject([{ action: 'coerced' }]);
  });

  it('returns a conversation in which all is well itself', () => {
    fc.assert(
      fc.property(items.map(withPairs), (given) => {
        expect(pairCalls(given, new Report(requestOf()))).toBe(given);
      }),
    );
  });
});
