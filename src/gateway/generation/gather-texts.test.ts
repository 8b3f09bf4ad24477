import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { FrameForm } from '../../kit/frames/frame-form.ts';
import { gatherTexts } from './gather-texts.ts';

type Said = Partial<Extract<Event, { type: 'text-delta' }>>;

const say = (text: string, more: Said = {}): Event => ({
  type: 'text-delta',
  item: 0,
  part: 0,
  kind: 'text',
  text,
  ...more,
});
const FORM = new FrameForm('{"a":"', '"}');
const relay = (inner: Event, form?: FrameForm): Event => ({
  type: 'relay',
  dialect: 'chat',
  frame: { data: '' },
  value: {},
  events: [inner],
  ...(form !== undefined && { form }),
});

describe('gatherTexts', () => {
  it('makes one of the pieces of a text, however they were told', () => {
    const batch = [say('a'), relay(say('b'), FORM), say('cd', { pieces: 2 })];
    expect(gatherTexts(batch)).toEqual([say('abcd', { pieces: 4 })]);
  });

  it('leaves a batch of one as it is', () => {
    const batch = [relay(say('a'), FORM)];
    expect(gatherTexts(batch)).toBe(batch);
  });

  it.each<[string, Event]>([
    ['another part', say('b', { part: 1 })],
    ['another item', say('b', { item: 1 })],
    ['another kind', say('b', { kind: 'refusal' })],
    ['text with log probabilities', say('b', { logprobs: [] })],
    ['no text', say('')],
    ['a frame that may say more', relay(say('b'))],
    ['something else', { type: 'tool-input-delta', item: 0, text: 'b' }],
  ])('keeps %s apart, and the order', (_name, other) => {
    const gathered = gatherTexts([say('a'), say('b'), other, say('c'), say('d')]);
    expect(gathered).toEqual([say('ab', { pieces: 2 }), other, say('cd', { pieces: 2 })]);
    expect(gathered[1]).toBe(other);
  });
});
