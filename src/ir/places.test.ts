import { describe, expect, it } from 'vitest';
import { Places } from './places.ts';

describe('places', () => {
  it('are written out step by step, or as they were given', () => {
    const places = new Places();
    const message = places.put({}, places.inside('messages', 2));
    const part = places.put({}, places.inside(places.inside(places.inside('messages', 2), 'content'), 1));
    const tool = places.put({}, 'tools[0]');
    expect([message, part, tool].map((thing) => places.of(thing))).toEqual([
      'messages[2]',
      'messages[2].content[1]',
      'tools[0]',
    ]);
  });

  it('can be added after they were read; the last one counts', () => {
    const places = new Places();
    const thing = places.put({}, 'input[0]');
    expect(places.of(thing)).toBe('input[0]');
    places.put(thing, 'input[1]');
    expect(places.of(thing)).toBe('input[1]');
    expect(places.of({})).toBeUndefined();
  });
});
