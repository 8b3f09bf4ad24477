import { describe, expect, it } from 'vitest';
import type { Event } from '../../ir/events.ts';
import { Portions } from './portions.ts';

const delta = (text: string, more: object = {}): Event => ({
  type: 'text-delta',
  item: 0,
  part: 0,
  kind: 'text',
  text,
  ...more,
});

function portionsOf(events: readonly Event[]): (readonly Event[])[] {
  const portions = new Portions(events);
  const taken: (readonly Event[])[] = [];
  while (!portions.isEmpty) taken.push(portions.take());
  expect(portions.take()).toEqual([]);
  return taken;
}

const textOf = (portions: (readonly Event[])[]) =>
  portions.flat().map((event) => (event.type === 'text-delta' ? event.text : ''));

describe('portions', () => {
  it('leave few events as they are', () => {
    const events = [delta('a'), delta('b')];
    expect(portionsOf(events)).toEqual([events]);
    expect(portionsOf([])).toEqual([]);
  });

  it('hold some of many events, in order', () => {
    const events = Array.from({ length: 1000 }, (_, index) => delta(String(index)));
    const portions = portionsOf(events);
    expect(portions.map((portion) => portion.length)).toEqual([...Array(7).fill(128), 104]);
    expect(portions.flat()).toEqual(events);
  });

  it('cut long text, but no character', () => {
    const text = `x${'😀'.repeat(200_000)}`;
    const portions = portionsOf([delta('a'), delta(text), { type: 'tool-input-delta', item: 1, text: 'z' }]);
    expect(portions.length).toBe(7);
    expect(textOf(portions).join('')).toBe(`a${text}`);
    for (const piece of textOf(portions)) expect(piece).toBe(Buffer.from(piece).toString());
    expect(portions.flat().at(-1)).toEqual({ type: 'tool-input-delta', item: 1, text: 'z' });
  });

  it('do not cut text away from its log probabilities', () => {
    const long = delta('x'.repeat(200_000), { logprobs: [] });
    expect(portionsOf([long, delta('a')])).toEqual([[long], [delta('a')]]);
  });
});
