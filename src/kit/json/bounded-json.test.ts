import { describe, expect, it } from 'vitest';
import { boundedJson, boundedText } from './bounded-json.ts';
import type { Json } from './json.ts';

const bounds = { characters: 4, entries: 2, depth: 3 };

describe('boundedJson', () => {
  it('leaves what is small as it is', () => {
    const value = { a: ['text', 1], b: { c: null } };
    expect(boundedJson(value, bounds)).toEqual(value);
  });

  it('cuts strings, names, lists and objects', () => {
    expect(boundedJson(['abcdef', { longname: true, b: 1, c: 2 }, 3], bounds)).toEqual([
      'abcd',
      { long: true, b: 1 },
    ]);
  });

  it('gives up on what is too deep, however deep it is', () => {
    expect(boundedJson({ a: [{ b: [1] }] }, bounds)).toEqual({ a: [{ b: null }] });
    let deep: Json = 1;
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(boundedJson(deep, bounds)).toEqual([[[null]]]);
  });

  it('keeps a member that is called __proto__ a member', () => {
    const copy = boundedJson(JSON.parse('{"__proto__": 1}') as Json, { ...bounds, characters: 20 });
    expect(JSON.stringify(copy)).toBe('{"__proto__":1}');
  });
});

describe('boundedText', () => {
  it('never cuts a character in two', () => {
    expect(boundedText('ab\u{1F511}', 3)).toBe('ab');
    expect(boundedText('ab\u{1F511}c', 4)).toBe('ab\u{1F511}');
  });
});
