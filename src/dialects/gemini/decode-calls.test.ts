import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json/json.ts';
import { PartialArguments } from './decode-calls.ts';

function read(...pieces: JsonObject[]): unknown {
  const partial = new PartialArguments();
  for (const piece of pieces) partial.read({ partialArgs: [piece] });
  return JSON.parse(JSON.stringify(partial.value));
}

describe('arguments in pieces', () => {
  it.each<[string, JsonObject[], unknown]>([
    [
      'text that is cut',
      [
        { jsonPath: '$.a', stringValue: 'on' },
        { jsonPath: '$.a', stringValue: 'e' },
      ],
      { a: 'one' },
    ],
    [
      'values of every kind',
      [
        { jsonPath: '$.n', numberValue: 1.5 },
        { jsonPath: '$.b', boolValue: true },
        { jsonPath: '$.z', nullValue: 'NULL_VALUE' },
      ],
      { n: 1.5, b: true, z: null },
    ],
    ['members of members', [{ jsonPath: '$.a.b[1].c', stringValue: 'x' }], { a: { b: [null, { c: 'x' }] } }],
    ['names in quotes', [{ jsonPath: `$['a.b']["it's"]`, stringValue: 'x' }], { 'a.b': { "it's": 'x' } }],
    [
      'names that every object has',
      [{ jsonPath: '$.__proto__.x', numberValue: 1 }],
      JSON.parse('{"__proto__":{"x":1}}'),
    ],
    [
      'paths that lead nowhere',
      [
        { jsonPath: 'a', numberValue: 1 },
        { jsonPath: '$', numberValue: 1 },
        { jsonPath: '$..a', numberValue: 1 },
        { numberValue: 1 },
      ],
      {},
    ],
    [
      'a path through a value of another kind',
      [
        { jsonPath: '$.a', stringValue: 'x' },
        { jsonPath: '$.a[0]', numberValue: 1 },
      ],
      { a: [1] },
    ],
  ])('%s', (_name, pieces, value) => {
    expect(read(...pieces)).toEqual(value);
  });

  it.each<[string, JsonObject[]]>([
    ['a place far beyond the end', [{ jsonPath: '$.a[99999999]', numberValue: 1 }]],
    ['a number that is no place', [{ jsonPath: `$.a[${'9'.repeat(400)}]`, numberValue: 1 }]],
    ['gaps inside gaps', [{ jsonPath: `$.a${'[2]'.repeat(62)}`, numberValue: 1 }]],
    [
      'gaps in many lists',
      Array.from({ length: 11 }, (_, index) => ({ jsonPath: `$.k${index}[10]`, numberValue: 1 })),
    ],
    [
      'more entries than arguments have',
      Array.from({ length: 10_001 }, (_, index) => ({ jsonPath: `$.k${index}`, numberValue: 1 })),
    ],
  ])('holds no %s', (_name, partialArgs) => {
    const partial = new PartialArguments();
    expect(partial.read({ partialArgs })).toBe(false);
    expect(JSON.stringify(partial.value).length).toBeLessThan(200_000);
  });

  it('counts the pieces of one value once', () => {
    const partial = new PartialArguments();
    const partialArgs = Array.from({ length: 20_000 }, () => ({ jsonPath: '$.a.b', stringValue: 'x' }));
    expect(partial.read({ partialArgs })).toBe(true);
    expect(JSON.parse(JSON.stringify(partial.value))).toEqual({ a: { b: 'x'.repeat(20_000) } });
  });

  it('never touches what objects inherit', () => {
    read({ jsonPath: '$.__proto__.polluted', stringValue: 'x' });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});
