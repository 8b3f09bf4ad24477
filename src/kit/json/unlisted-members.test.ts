import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { nullish, open, otherThan, taggedUnion } from './schema.ts';
import { unlistedMembers } from './unlisted-members.ts';

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
