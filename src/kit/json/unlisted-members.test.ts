import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { nullish, open, openOneOf, openUnion, otherThan, taggedUnion } from './schema.ts';
import { unlistedMembers } from './unlisted-members.ts';
import { compileValidator } from './validate.ts';

const circle = Type.Object({ kind: Type.Literal('circle'), radius: Type.Number() });
const schema = Type.Object({
  name: nullish(Type.String()),
  inner: nullish(Type.Object({ a: Type.Optional(Type.Number()) })),
  anything: Type.Optional(Type.Object({})),
  labels: Type.Optional(
    Type.Unsafe({ type: 'object', additionalProperties: Type.Object({ text: Type.String() }) }),
  ),
  written: Type.Optional(open({ a: Type.Object({ b: Type.Number() }) })),
  shapes: nullish(
    Type.Union([Type.String(), Type.Array(taggedUnion('kind', [circle, otherThan('kind', ['circle'])]))]),
  ),
});

const pathsIn = (value: JsonObject, most = 100) =>
  unlistedMembers(schema, value, most).map(({ path }) => path);

describe('unlistedMembers', () => {
  it('finds members of objects, of elements of lists and of branches of unions', () => {
    const value = {
      zz: 1,
      inner: { a: 1, b: 2 },
      shapes: [
        { kind: 'circle', radius: 1 },
        { kind: 'circle', radius: 1, colour: 'red' },
      ],
      labels: { any: { text: 'x', zz: 1 } },
    };
    expect(pathsIn(value)).toEqual(['zz', 'inner.b', 'shapes[1].colour', 'labels.any.zz']);
    expect(unlistedMembers(schema, value, 100)[2]).toEqual({
      path: 'shapes[1].colour',
      name: 'colour',
      value: 'red',
    });
  });

  it('takes any member where the schema lists none, or is open, or has no branch for it', () => {
    expect(
      pathsIn({
        anything: { a: { b: 1 } },
        written: { a: { b: 1, c: 2 }, d: 3 },
        shapes: [{ kind: 'square', side: 1 }],
      }),
    ).toEqual([]);
  });

  it('takes null for absent, and names that objects inherit for members', () => {
    expect(pathsIn({ zz: null, inner: { zz: null } })).toEqual([]);
    expect(pathsIn(JSON.parse('{"constructor":1,"inner":{"__proto__":1}}'))).toEqual([
      'constructor',
      'inner.__proto__',
    ]);
  });

  it('stops at the limit', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`m${at}`, at]));
    expect(pathsIn({ inner: many, shapes: [{ kind: 'circle', radius: 1, zz: 1 }] }, 10)).toHaveLength(10);
  });
});

describe('values that a schema takes without listing them', () => {
  const square = Type.Object({ kind: Type.Literal('square'), side: nullish(openOneOf(['short', 'long'])) });
  const open = Type.Object({
    speed: nullish(openOneOf(['fast', 'slow'])),
    wanted: nullish(Type.Array(openOneOf(['a', 'b']))),
    shape: nullish(openUnion('kind', [circle, square], { documented: ['oval'] })),
    other: nullish(Type.Union([openOneOf(['auto']), openUnion('kind', [circle])])),
  });
  const found = (value: JsonObject) =>
    unlistedMembers(open, value, 100).map(({ path, name, value, isValue }) => [path, name, value, isValue]);

  it('are valid and found, known ones are not', () => {
    const known = { speed: 'fast', wanted: ['a'], shape: { kind: 'oval', any: 1 }, other: 'auto' };
    const unknown = { speed: 'warp', wanted: ['a', 'c'], shape: { kind: 'cube', any: 1 }, other: 'most' };
    const { issuesOf } = compileValidator(open);
    expect([issuesOf(known), issuesOf(unknown)]).toEqual([[], []]);
    expect(found(known)).toEqual([]);
    expect(found(unknown)).toEqual([
      ['speed', 'speed', 'warp', true],
      ['wanted[1]', 'wanted', 'c', true],
      ['shape.kind', 'kind', 'cube', true],
      ['other', 'other', 'most', true],
    ]);
    expect(found({ shape: { kind: 'square', side: 'odd', zz: 1 }, other: { kind: 'oval' } })).toEqual([
      ['shape.side', 'side', 'odd', true],
      ['shape.zz', 'zz', 1, undefined],
      ['other.kind', 'kind', 'oval', true],
    ]);
  });

  it('have the right type, and known tags keep their checks', () => {
    const { issuesOf } = compileValidator(open);
    expect(issuesOf({ speed: 1, shape: { kind: 'circle' }, other: { kind: 2 } })).toEqual([
      { path: 'speed', message: 'must be one of "fast", "slow" or a string' },
      { path: 'shape.radius', message: 'is required' },
      { path: 'other', message: 'must be one of "auto" or a string or an object' },
    ]);
  });
});
