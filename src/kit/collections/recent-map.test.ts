import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentMap } from './recent-map.ts';

describe('RecentMap', () => {
  it('evicts the entry that was used least recently', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([...map.entries()]).toEqual([
      ['a', 1],
      ['c', 3],
    ]);
  });

  it('does not count a peek as a use', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.peek('a')).toBe(1);
    map.set('c', 3);
    expect(map.peek('a')).toBeUndefined();
  });

  it('lets entries be deleted while they are read', () => {
    const map = new RecentMap<string, number>(3);
    for (const key of ['a', 'b', 'c']) map.set(key, 1);
    for (const [key] of map.entries()) map.delete(key);
    expect(map.size).toBe(0);
  });

  it('keeps the sizes of all entries together within a bound that may change', () => {
    let maxSize = 10;
    const removed: string[] = [];
    const map = new RecentMap<string, string>(Number.POSITIVE_INFINITY, {
      maxSize: () => maxSize,
      sizeOf: (value) => value.length,
      onRemoved: (value) => removed.push(value),
    });
    map.set('a', 'four');
    map.set('b', 'three');
    expect(map.totalSize).toBe(9);
    map.get('a');
    map.set('c', 'xy');
    expect(removed).toEqual(['three']);
    expect(map.totalSize).toBe(6);
    map.set('c', 'as long as this');
    expect(map.has('c')).toBe(false);
    map.set('a', 'other', 9);
    expect(map.totalSize).toBe(9);
    maxSize = 8;
    expect(map.size).toBe(1);
    map.trim();
    expect([map.size, map.totalSize]).toEqual([0, 0]);
    expect(removed).toEqual(['three', 'xy', 'other']);
  });

  it('behaves as a list in the order of use that is cut at its bound', () => {
    const key = fc.integer({ min: 0, max: 6 });
    const step = fc.oneof(
      fc.record({ kind: fc.constantFrom('get' as const, 'delete' as const, 'peek' as const), key }),
      fc.record({ kind: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ kind: fc.constant('clear' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const map = new RecentMap<number, number>(4);
        let model: [number, number][] = [];
        const without = (gone: number) => model.filter(([known]) => known !== gone);
        for (const done of steps) {
          if (done.kind === 'clear') {
            map.clear();
            model = [];
          } else if (done.kind === 'set') {
            map.set(done.key, done.value);
            model = [...without(done.key), [done.key, done.value] as [number, number]].slice(-4);
          } else if (done.kind === 'delete') {
            const isKnown = model.some(([known]) => known === done.key);
            expect(map.has(done.key)).toBe(isKnown);
            expect(map.delete(done.key)).toBe(isKnown);
            model = without(done.key);
          } else {
            const known = model.find(([found]) => found === done.key);
            expect(map[done.kind](done.key)).toBe(known?.[1]);
            if (done.kind === 'get' && known !== undefined) model = [...without(done.key), known];
          }
        }
        expect(new Map(map.entries())).toEqual(new Map(model));
        expect([map.size, map.totalSize]).toEqual([model.length, model.length]);
      }),
    );
  });
});
