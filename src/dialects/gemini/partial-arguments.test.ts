import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json.ts';
import { PartialArguments } from './partial-arguments.ts';

function read(...pieces: JsonObject[]): unknown {
  const partial = new PartialArguments();
  for (const piece of pieces) partial.read({ partialArgs: [piece] });
  return JSON.parse(partial.toString());
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
    ['places far beyond the end', [{ jsonPath: '$.a[99999999]', numberValue: 1 }], { a: [] }],
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

  it('never touches what objects inherit', () => {
    read({ jsonPath: '$.__proto__.polluted', stringValue: 'x' });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});
