import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../json/json.ts';
import { faultText, schemaFault } from './schema-fault.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  $defs: { day: { type: 'string', minLength: 1 } },
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]+$' },
    count: { type: ['integer', 'null'], minimum: 1, exclusiveMaximum: 9 },
    sort: { enum: ['new', 'old'] },
    days: { type: 'array', items: { $ref: '#/$defs/day' }, minItems: 1, uniqueItems: true },
    filter: {
      anyOf: [
        {
          type: 'object',
          properties: { key: { type: 'string' } },
          required: ['key'],
          additionalProperties: false,
        },
        { type: 'null' },
      ],
    },
    pair: { prefixItems: [{ type: 'string' }, { type: 'number' }] },
    mixed: {
      anyOf: [
        { type: 'string', minLength: 2 },
        { type: 'string', maxLength: 0 },
      ],
    },
    odd: { contains: { type: 'string' } },
    both: { allOf: [{ type: 'number' }, { maximum: 3 }] },
  },
  patternProperties: { '^x_': { type: 'number' } },
  additionalProperties: false,
  required: ['query'],
};

const textOf = (value: Json) => {
  const fault = schemaFault(value, SCHEMA, 10_000);
  return fault && faultText(fault);
};

it.each<[Json, string]>([
  [{}, 'query: is required'],
  ['no object', 'must be of type object'],
  [{ query: 5 }, 'query: must be of type string'],
  [{ query: '' }, 'query: must not be empty'],
  [{ query: 'abcd' }, 'query: must have at most 3 characters'],
  [{ query: 'A' }, 'query: must match ^[a-z]+$'],
  [{ query: 'a', count: 0 }, 'count: must be >= 1'],
  [{ query: 'a', count: 9 }, 'count: must be < 9'],
  [{ query: 'a', count: 'x' }, 'count: must be of type integer or null'],
  [{ query: 'a', sort: 'best' }, 'sort: must be one of "new", "old"'],
  [{ query: 'a', days: [] }, 'days: must have at least 1 item'],
  [{ query: 'a', days: ['mo', ''] }, 'days[1]: must not be empty'],
  [{ query: 'a', days: ['mo', 'mo'] }, 'days: must not have the same item twice'],
  [{ query: 'a', filter: {} }, 'filter.key: is required'],
  [{ query: 'a', filter: { key: 'b', other: 1 } }, 'filter.other: is not a known field'],
  [{ query: 'a', filter: 5 }, 'filter: has none of the forms that are allowed'],
  [{ query: 'a', mixed: 'b' }, 'mixed: has none of the forms that are allowed'],
  [{ query: 'a', pair: ['b', 'c'] }, 'pair[1]: must be of type number'],
  [{ query: 'a', odd: [1] }, 'odd: does not meet contains of the schema'],
  [{ query: 'a', both: 4 }, 'both: must be <= 3'],
  [{ query: 'a', x_a: 'b' }, 'x_a: must be of type number'],
  [{ query: 'a', querry: 'b' }, 'querry: is not a known field'],
])('names the member and the reason: %j', (value, text) => {
  expect(textOf(value)).toBe(text);
});

it('has nothing to say of a value that fits, or of one beyond its work', () => {
  expect(textOf({ query: 'a', filter: null, x_a: 1 })).toBeUndefined();
  expect(schemaFault({}, SCHEMA, 1)).toBeUndefined();
});

it('ends in a schema that refers to itself', () => {
  const circle: JsonObject = { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, false] } } };
  expect(schemaFault(1, circle, 10_000)).toMatchObject({ path: '' });
});
