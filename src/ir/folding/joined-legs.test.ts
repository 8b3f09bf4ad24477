import { describe, expect, it } from 'vitest';
import type { Event } from '../events.ts';
import { NO_USAGE, type Usage } from '../usage.ts';
import { fold } from './fold.ts';
import { JoinedLegs } from './joined-legs.ts';

const used = (inputTokens: number, source: Usage['source'] = 'measured'): Event => ({
  type: 'usage',
  usage: { ...NO_USAGE, inputTokens, source },
});

const leg = (...texts: string[]): Event[] => [
  { type: 'start', upstreamId: texts.join('-') },
  ...texts.flatMap((text, item): Event[] => [
    { type: 'item-start', item, head: { type: 'message' } },
    { type: 'text-delta', item, part: 0, kind: 'text', text },
    { type: 'item-end', item },
  ]),
  { type: 'finish', reason: 'stop' },
];

function joinedOf(legs: readonly Event[][]) {
  const joined = new JoinedLegs();
  const events: Event[] = [];
  const ends = legs.map((events_, index) => {
    if (index > 0) joined.begin();
    const { passing, terminal } = joined.push(events_);
    events.push(...passing);
    return terminal;
  });
  return { events, ends };
}

describe('JoinedLegs', () => {
  it('counts items on from leg to leg, also after one that said nothing', () => {
    const { events, ends } = joinedOf([leg('a', 'b'), leg(), leg('c')]);
    const texts = fold(events).items.map((item) => (item.type === 'message' ? item.content : []));
    expect(texts).toEqual(['a', 'b', 'c'].map((text) => [{ type: 'text', text }]));
    expect(ends.map((end) => end?.type)).toEqual(['finish', 'finish', 'finish']);
    expect(events.filter(({ type }) => type === 'finish')).toEqual([]);
  });

  it('numbers items without gaps where some are withheld, and names them in progress of hosted tools', () => {
    const joined = new JoinedLegs((head) => head.type === 'reasoning');
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'reasoning' } },
      { type: 'item-end', item: 0 },
      { type: 'item-start', item: 1, head: { type: 'message' } },
      { type: 'opaque', dialect: 'responses', value: { type: 'step' }, item: 1 },
      { type: 'opaque', dialect: 'responses', value: { type: 'step' }, item: 0 },
      { type: 'item-end', item: 1 },
    ];
    const items = (batch: readonly Event[]) => batch.map((event) => 'item' in event && event.item);
    expect(items(joined.push(events).passing)).toEqual([0, 0, 0]);
    expect(joined.ownItem()).toBe(1);
    joined.begin();
    expect(items(joined.push(events).passing)).toEqual([2, 2, 2]);
  });

  it('keeps calls that follow a withheld one for the end', () => {
    const call = (item: number, name: string): Event[] => [
      { type: 'item-start', item, head: { type: 'tool-call', kind: 'function', callId: name, name } },
      { type: 'item-end', item },
    ];
    const joined = new JoinedLegs((head) => head.type === 'tool-call' && head.name === 'own');
    const { passing } = joined.push([...call(0, 'early'), ...call(1, 'own'), ...call(2, 'late')]);
    expect(passing).toEqual(call(0, 'early'));
    expect(joined.ownItem()).toBe(1);
    expect(joined.takeLateCalls()).toEqual(call(2, 'late'));
    expect(joined.takeLateCalls()).toEqual([]);
  });

  it('has one start, and usage is the sum so far', () => {
    const { events } = joinedOf([
      [...leg('a'), used(3)],
      [used(1), ...leg('b'), used(5)],
      [used(7, 'estimated')],
    ]);
    expect(events.filter(({ type }) => type === 'start')).toEqual([{ type: 'start', upstreamId: 'a' }]);
    const sums = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    expect(sums.map(({ inputTokens }) => inputTokens)).toEqual([3, 4, 8, 15]);
    expect(sums.at(-1)?.source).toBe('estimated');
  });

  it('lets only the meaning of frames pass, and keeps places for items of its own', () => {
    const joined = new JoinedLegs();
    const frame = {
      type: 'relay',
      dialect: 'chat',
      frame: { data: '' },
      value: {},
      events: leg('a'),
    } as const;
    expect(joined.push([frame]).passing.map(({ type }) => type)).toEqual([
      'start',
      'item-start',
      'text-delta',
      'item-end',
    ]);
    expect(joined.ownItem()).toBe(1);
    joined.begin();
    expect(joined.push(leg('b')).passing[0]).toMatchObject({ type: 'item-start', item: 2 });
  });
});
