import { describe, expect, it } from 'vitest';
import { OpenItems } from './open-items.ts';

describe('what is open in an answer', () => {
  it('is nothing before the first item and after the last', () => {
    const items = new OpenItems();
    expect(items.ending()).toEqual([]);
    items.push([
      { type: 'item-start', item: 0, head: { type: 'message' } },
      { type: 'item-end', item: 0 },
    ]);
    expect(items.ending()).toEqual([]);
  });

  it('is ended part by part, item by item', () => {
    const items = new OpenItems();
    items.push([
      { type: 'item-start', item: 0, head: { type: 'reasoning' } },
      { type: 'part-start', item: 0, part: 0, kind: 'thought' },
      { type: 'part-end', item: 0, part: 0, kind: 'thought' },
      { type: 'item-end', item: 0 },
      { type: 'item-start', item: 1, head: { type: 'message' } },
      { type: 'part-start', item: 1, part: 0, kind: 'text' },
      { type: 'part-end', item: 1, part: 0, kind: 'text' },
      { type: 'part-start', item: 1, part: 1, kind: 'text' },
      { type: 'item-start', item: 2, head: { type: 'tool-call', kind: 'function', callId: 'c', name: 'n' } },
    ]);
    expect(items.ending()).toEqual([
      { type: 'part-end', item: 1, part: 1, kind: 'text' },
      { type: 'item-end', item: 1, status: 'incomplete' },
      { type: 'item-end', item: 2, status: 'incomplete' },
    ]);
  });
});
