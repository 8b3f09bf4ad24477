import { describe, expect, it } from 'vitest';
import { ExpiringMap, type ExpiringMapOptions } from './expiring-map.ts';

function mapAt(options: Partial<ExpiringMapOptions<string>> = {}) {
  const time = { ms: 0 };
  const clock = { monotonic: () => time.ms };
  return { time, map: new ExpiringMap<string, string>(10, { clock, lifetimeMs: 100, ...options }) };
}

describe('ExpiringMap', () => {
  it('has entries until their time is over, that of the map or their own', () => {
    const { time, map } = mapAt();
    map.set('a', 'one');
    map.set('b', 'two', 200);
    time.ms = 100;
    expect([map.get('a'), map.peek('b')]).toEqual(['one', 'two']);
    time.ms = 101;
    expect([map.peek('a'), map.get('a'), map.get('b')]).toEqual([undefined, undefined, 'two']);
    time.ms = 201;
    expect(map.get('b')).toBeUndefined();
  });

  it('prolongs lives by use if it is to, but not by a peek', () => {
    const { time, map } = mapAt({ isProlongedByUse: true });
    map.set('a', 'one');
    time.ms = 90;
    map.get('a');
    time.ms = 180;
    expect(map.peek('a')).toBe('one');
    time.ms = 191;
    expect(map.get('a')).toBeUndefined();
  });

  it('tells of what it removes: swept, evicted by size, deleted, cleared', () => {
    const removed: string[] = [];
    const { time, map } = mapAt({
      maxSize: () => 10,
      sizeOf: (value) => value.length,
      onRemoved: (value) => removed.push(value),
    });
    map.set('a', 'expired');
    time.ms = 101;
    map.sweep();
    expect(removed).toEqual(['expired']);
    map.set('b', 'evicted');
    map.set('c', 'kept', 100, 9);
    expect(removed).toEqual(['expired', 'evicted']);
    map.delete('c');
    map.set('d', 'last');
    map.clear();
    expect(removed).toEqual(['expired', 'evicted', 'kept', 'last']);
  });
});
