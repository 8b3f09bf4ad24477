import { describe, expect, it } from 'vitest';
import { GatewayError } from '../errors.ts';
import type { Event, Settled } from '../events.ts';
import { NO_USAGE } from '../usage.ts';
import { Fold, fold } from './fold.ts';

const TEXT: Event[] = [
  { type: 'start', upstreamId: 'one', upstreamModel: 'm' },
  { type: 'item-start', item: 0, head: { type: 'message', id: 'msg_1' } },
  { type: 'part-start', item: 0, part: 0, kind: 'text' },
  { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'Hel', logprobs: [{ token: 'Hel' }] },
  { type: 'text-delta', item: 0, part: 0, kind: 'text', text: 'lo' },
  { type: 'annotation', item: 0, part: 0, annotation: { type: 'url-citation', url: 'https://x.y' } },
  { type: 'part-end', item: 0, part: 0, kind: 'text' },
];

describe('folding', () => {
  it('builds messages', () => {
    expect(fold([...TEXT, { type: 'item-end', item: 0, status: 'incomplete' }]).items).toEqual([
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'incomplete',
        content: [
          {
            type: 'text',
            text: 'Hello',
            annotations: [{ type: 'url-citation', url: 'https://x.y' }],
            logprobs: [{ token: 'Hel' }],
          },
        ],
      },
    ]);
  });

  it('counts thoughts and summaries apart and joins seals', () => {
    const result = fold([
      { type: 'item-start', item: 0, head: { type: 'reasoning' } },
      { type: 'text-delta', item: 0, part: 0, kind: 'thought', text: 'a' },
      { type: 'text-delta', item: 0, part: 1, kind: 'thought', text: 'b' },
      { type: 'text-delta', item: 0, part: 0, kind: 'summary', text: 'c' },
      { type: 'seal', item: 0, seal: { format: 'f' } },
      { type: 'seal', item: 0, seal: { signature: 's' } },
      { type: 'item-end', item: 0 },
    ]);
    expect(result.items).toEqual([
      {
        type: 'reasoning',
        text: ['a', 'b'],
        summary: ['c'],
        signature: 's',
        format: 'f',
        status: 'completed',
      },
    ]);
  });

  it('keeps no more text than there is room for, and says how much it left out', () => {
    const thought = (text: string): Event => ({
      type: 'text-delta',
      item: 0,
      part: 0,
      kind: 'thought',
      text,
    });
    const input = (text: string): Event => ({ type: 'tool-input-delta', item: 1, text });
    const folding = new Fold(5).pushAll([
      { type: 'item-start', item: 0, head: { type: 'reasoning' } },
      thought('abc'),
      { type: 'item-start', item: 1, head: { type: 'tool-call', kind: 'function', callId: 'c', name: 'f' } },
      input('de'),
    ]);
    expect(folding.result().omitted).toBeUndefined();
    folding.pushAll([thought('fg'), input('hij'), { type: 'item-end', item: 1 }]);
    const { items, omitted } = folding.result();
    expect(items).toMatchObject([{ text: ['abc'] }, { input: 'de', status: 'completed' }]);
    expect(omitted).toEqual({
      reasoning: { characters: 2, sample: ['fg'] },
      other: { characters: 3, sample: ['hij'] },
    });
  });

  it('keeps nothing that comes after something it left out', () => {
    const text = (piece: string): Event => ({
      type: 'text-delta',
      item: 0,
      part: 0,
      kind: 'text',
      text: piece,
    });
    const folding = new Fold(5).pushAll([
      { type: 'item-start', item: 0, head: { type: 'message' } },
      ...['abc', 'defg', 'h'].map(text),
    ]);
    expect(folding.textAt(0, 0, 'text')).toBe('abc');
    expect(folding.result().omitted?.other).toEqual({ characters: 5, sample: ['defgh'] });
  });

  it('keeps no more than some annotations where it does not keep all text', () => {
    const annotation: Event = {
      type: 'annotation',
      item: 0,
      part: 0,
      annotation: { type: 'url-citation', url: 'u' },
    };
    const events: Event[] = [
      { type: 'item-start', item: 0, head: { type: 'message' } },
      ...Array.from({ length: 1500 }, () => annotation),
    ];
    const kept = (folding: Fold) => folding.pushAll(events).result().items;
    expect(kept(new Fold(5))).toMatchObject([{ content: [{ annotations: { length: 1000 } }] }]);
    expect(kept(new Fold())).toMatchObject([{ content: [{ annotations: { length: 1500 } }] }]);
  });

  it('keeps interleaved calls apart', () => {
    const call = (item: number): Event => ({
      type: 'item-start',
      item,
      head: { type: 'tool-call', kind: 'function', callId: `c${item}`, name: 'f' },
    });
    const { items } = fold([
      call(0),
      call(1),
      { type: 'tool-input-delta', item: 1, text: '{"b"' },
      { type: 'tool-input-delta', item: 0, text: '{}' },
      { type: 'tool-input-delta', item: 1, text: ':1}' },
    ]);
    expect(items).toMatchObject([
      { callId: 'c0', input: '{}', status: 'in_progress' },
      { callId: 'c1', input: '{"b":1}' },
    ]);
  });

  it('shows images, refusals and the last form of opaque items', () => {
    const { items } = fold([
      { type: 'item-start', item: 0, head: { type: 'image' } },
      { type: 'image-data', item: 0, source: { kind: 'url', url: 'u' } },
      { type: 'item-start', item: 1, head: { type: 'message' } },
      { type: 'text-delta', item: 1, part: 0, kind: 'refusal', text: 'No.' },
      {
        type: 'item-start',
        item: 2,
        head: { type: 'opaque', item: { type: 'opaque', dialect: 'chat', value: { a: 1 } } },
      },
      { type: 'item-end', item: 2, value: { a: 2 } },
    ]);
    expect(items).toMatchObject([
      { type: 'image', source: { kind: 'url', url: 'u' } },
      { content: [{ type: 'refusal', refusal: 'No.' }] },
      { type: 'opaque', value: { a: 2 } },
    ]);
  });

  it('merges what a dialect said at the start and at the end of an item', () => {
    const { items } = fold([
      { type: 'item-start', item: 0, head: { type: 'message', ext: { chat: { a: 1 } } } },
      { type: 'item-end', item: 0, ext: { responses: { b: 2 } } },
    ]);
    expect(items).toMatchObject([{ ext: { chat: { a: 1 }, responses: { b: 2 } } }]);
  });

  it('shows an answer at any moment', () => {
    const sofar = new Fold().pushAll(TEXT.slice(0, 4));
    expect(sofar.textAt(0, 0, 'text')).toBe('Hel');
    expect(sofar.itemAt(0)).toMatchObject({ status: 'in_progress', content: [{ text: 'Hel' }] });
    expect(sofar.result().finish).toBeUndefined();
  });

  it('keeps the first ids, the last usage and the settled end', () => {
    const settled: Settled = {
      usage: NO_USAGE,
      bill: { totalNanos: 1n, inputNanos: 0n, outputNanos: 1n, isByok: false },
    };
    const result = fold([
      ...TEXT,
      { type: 'start', upstreamId: 'two' },
      { type: 'usage', usage: { ...NO_USAGE, inputTokens: 1 } },
      { type: 'usage', usage: { ...NO_USAGE, inputTokens: 2 } },
      { type: 'finish', reason: 'stop' },
      { type: 'finish', reason: 'stop', settled },
    ]);
    expect(result).toMatchObject({
      upstreamId: 'one',
      upstreamModel: 'm',
      usage: { inputTokens: 2 },
      settled,
    });
  });

  it('reads through relayed frames, and keeps a whole body', () => {
    const frame = { data: '{}' };
    const streamed = fold([{ type: 'relay', dialect: 'chat', frame, value: {}, events: TEXT }]);
    expect(streamed.items).toEqual(fold(TEXT).items);
    expect(streamed.relayed).toBeUndefined();
    const whole = fold([
      { type: 'relay', dialect: 'chat', frame, value: { a: 1 }, events: TEXT, whole: true },
    ]);
    expect(whole.relayed).toEqual({ a: 1 });
  });

  it('keeps a failure beside what was said before it', () => {
    const error = new GatewayError('server', 'Boom');
    const result = fold([...TEXT, { type: 'failure', error }]);
    expect(result.failure).toBe(error);
    expect(result.items).toHaveLength(1);
  });

  it('does not take events for an item that never began', () => {
    expect(() => fold([{ type: 'tool-input-delta', item: 3, text: 'x' }])).toThrow(/item 3/);
  });
});
