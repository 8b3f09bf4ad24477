import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Item, Role } from '../../../ir/items.ts';
import { countMessages, middleOut, middleOutMessages } from './middle-out.ts';

const said = (role: Role, text: string): Item => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
});
const call = (callId: string): Item => ({
  type: 'tool-call',
  kind: 'function',
  callId,
  name: 'f',
  input: '{}',
});
const result = (callId: string, text: string): Item => ({
  type: 'tool-result',
  kind: 'function',
  callId,
  content: [{ type: 'text', text }],
});
const thought: Item = { type: 'reasoning', text: ['hm'], summary: [] };

/** A token a character of text, and one for each item. */
const weights = { of: (item: Item) => textOf(item).length + 1, tokensPerCharacter: 1 };

function textOf(item: Item): string {
  if (item.type === 'tool-call') return item.input;
  if (item.type !== 'message' && item.type !== 'tool-result') return '';
  return item.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
const texts = (items: readonly Item[]) => items.map(textOf);
const weightOf = (items: readonly Item[]) => items.reduce((sum, item) => sum + weights.of(item), 0);

describe('middle-out', () => {
  const talk = [said('system', 'S'), ...[1, 2, 3, 4, 5, 6].map((n) => said('user', `${n}`.repeat(9)))];

  it('leaves out the middle', () => {
    expect(texts(middleOut(talk, 42, weights))).toEqual([
      'S',
      '1'.repeat(9),
      '2'.repeat(9),
      '5'.repeat(9),
      '6'.repeat(9),
    ]);
    expect(texts(middleOut(talk, 22, weights))).toEqual(['S', '1'.repeat(9), '6'.repeat(9)]);
  });

  it('keeps instructions and the last message, fit or not', () => {
    expect(texts(middleOut(talk, 1, weights))).toEqual(['S', '6'.repeat(9)]);
  });

  it('keeps the last question if instructions follow it', () => {
    const items = [...talk, said('system', 'N'), said('developer', 'M')];
    expect(texts(middleOut(items, 1, weights))).toEqual(['S', '6'.repeat(9), 'N', 'M']);
    expect(texts(middleOutMessages(items, 1))).toEqual(['S', '6'.repeat(9), 'N', 'M']);
  });

  it('keeps the beginning of an answer that instructions follow', () => {
    const items = [said('user', 'q'), said('assistant', 'so'), said('system', 'N')];
    expect(texts(middleOut(items, 1, weights))).toEqual(['so', 'N']);
  });

  it('does not begin with an answer after instructions in the middle', () => {
    const items = [said('user', 'q'.repeat(50)), said('assistant', 'a'), said('system', 'N')];
    const more = [...items, said('assistant', 'b'), said('user', 'c')];
    expect(texts(middleOut(more, 20, weights))).toEqual(['N', 'c']);
  });

  it('cuts the middle out of a long text where there is room', () => {
    const long = [said('user', 'a'.repeat(500) + 'b'.repeat(500)), said('user', 'end')];
    const [first, last] = texts(middleOut(long, 305, weights));
    expect(first).toMatch(/^a+\n\[\.\.\.\]\nb+$/);
    expect(first?.length).toBe(300);
    expect(last).toBe('end');
  });

  it('does not begin with an answer', () => {
    const items = [said('user', 'q'.repeat(50)), said('assistant', 'a'), said('user', 'b')];
    expect(texts(middleOut(items, 10, weights))).toEqual(['b']);
  });

  it('keeps or leaves out calls of tools with their results, whatever stands between them', () => {
    const step = fc.oneof(
      fc
        .tuple(fc.constantFrom<Role>('user', 'assistant'), fc.string({ maxLength: 300 }))
        .map(([role, text]) => [said(role, text)]),
      fc
        .tuple(fc.uuid(), fc.uuid(), fc.string({ maxLength: 300 }))
        .map(([a, b, text]) => [thought, call(a), call(b), result(a, text), result(b, text)]),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(2000), (steps, budget) => {
        const items = steps.flat();
        const kept = middleOut(items, budget, weights);
        const ids = (type: Item['type']) =>
          kept.flatMap((item) => (item.type === type && 'callId' in item ? [item.callId] : []));
        expect(ids('tool-call').sort()).toEqual(ids('tool-result').sort());
        expect(kept.length).toBeLessThanOrEqual(items.length);
        const least = middleOut(items, 0, weights);
        expect(weightOf(kept)).toBeLessThanOrEqual(Math.max(budget, weightOf(least)));
        expect(textOf(kept.at(-1) as Item)).toBe(textOf(items.at(-1) as Item));
      }),
    );
  });

  it('keeps instructions, and one other unit if there is one, whatever the order of roles', () => {
    const role = fc.constantFrom<Role>('system', 'developer', 'user', 'assistant');
    const item = fc.oneof(
      fc.tuple(role, fc.string({ maxLength: 300 })).map(([by, text]) => said(by, text)),
      fc.constantFrom('a', 'b').map(call),
      fc.constantFrom('a', 'b').map((id) => result(id, 'done')),
      fc.constant(thought),
    );
    const isInstruction = (one: Item) =>
      one.type === 'message' && (one.role === 'system' || one.role === 'developer');
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), fc.integer({ min: -100, max: 2000 }), (items, room) => {
        for (const kept of [middleOut(items, room, weights), middleOutMessages(items, room)]) {
          expect(kept.filter(isInstruction)).toEqual(items.filter(isInstruction));
          expect(kept.length > 0).toBe(items.length > 0);
          const last = items.findLast((one) => !isInstruction(one));
          if (last !== undefined) expect(kept).toContainEqual(last);
        }
      }),
    );
  });

  it('keeps half of the messages from each end', () => {
    const many = Array.from({ length: 100 }, (_, n) => said('user', `${n}`));
    const kept = middleOutMessages(many, 10);
    expect(countMessages(kept)).toBe(10);
    expect(texts(kept).slice(0, 5)).toEqual(['0', '1', '2', '3', '4']);
    expect(texts(kept).slice(-5)).toEqual(['95', '96', '97', '98', '99']);
  });
});
