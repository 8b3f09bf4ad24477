import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { parseQuery } from './parse-query.ts';

const schema = Type.Object({
  text: Type.Optional(Type.String()),
  count: Type.Optional(Type.Integer()),
  share: Type.Optional(Type.Number()),
  flag: Type.Optional(Type.Boolean()),
  names: Type.Optional(Type.Array(Type.String())),
  users: Type.Optional(Type.Array(Type.String(), { isRepeated: true })),
});

const parse = (query: string) => parseQuery(new URLSearchParams(query), schema);

describe('parseQuery', () => {
  it('reads each parameter in its declared type', () => {
    expect(parse('text=5&count=5&share=0.5&flag=true&names=a,b&names=c')).toEqual({
      text: '5',
      count: 5,
      share: 0.5,
      flag: true,
      names: ['a', 'b', 'c'],
    });
  });

  it('leaves what it cannot read as text, for validation to name', () => {
    expect(parse('count=5x&share=1e9&flag=yes')).toEqual({ count: '5x', share: '1e9', flag: 'yes' });
    expect(parse('count=')).toEqual({ count: '' });
  });

  it('knows only what is declared', () => {
    expect(parse('other=1&__proto__=x&constructor=y')).toEqual({});
  });

  it('takes an empty list for none', () => {
    expect(parse('names=')).toEqual({});
  });

  it('leaves commas and spaces in values that are given by repeating the name', () => {
    expect(parse('users=Doe,%20Jane%20&users=b')).toEqual({ users: ['Doe, Jane ', 'b'] });
    expect(parse('users=')).toEqual({});
  });

  it('refuses a single value given twice', () => {
    expect(() => parse('count=1&count=2')).toThrow('count: is given more than once');
  });
});
