import { describe, expect, it } from 'vitest';
import { keepText, keptText, textOf } from './kept-text.ts';

describe('a kept text', () => {
  it('is made once', () => {
    let made = 0;
    const value = { name: 'a' };
    const write = () => keptText(value, ({ name }) => `${name}${++made}`);
    expect([write(), write()]).toEqual(['a1', 'a1']);
  });

  it('is not that of a copy', () => {
    const value = { name: 'a' };
    const write = (of: typeof value) => keptText(of, JSON.stringify);
    expect(write(value)).toBe('{"name":"a"}');
    expect(write({ ...value, name: 'b' })).toBe('{"name":"b"}');
  });

  it('may be the one that the object was read from', () => {
    const value = { name: 'a' };
    keepText(value, '{ "name": "a" }');
    expect(textOf(value, JSON.stringify)).toBe('{ "name": "a" }');
    expect(keptText(value, JSON.stringify)).toBe('{ "name": "a" }');
  });

  it('is made and not kept by those who only look for it', () => {
    const value = { name: 'a' };
    expect(textOf(value, () => 'first')).toBe('first');
    expect(keptText(value, () => 'second')).toBe('second');
  });

  it('shows nowhere', () => {
    const value = { name: 'a' };
    keptText(value, () => 'text');
    expect(JSON.stringify(value)).toBe('{"name":"a"}');
    expect(Object.keys(value)).toEqual(['name']);
    expect(value).toStrictEqual({ name: 'a' });
    expect(structuredClone(value)).toStrictEqual({ name: 'a' });
  });
});
