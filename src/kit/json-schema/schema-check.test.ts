import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../json/json.ts';
import { StepBudget } from './budget.ts';
import { fitsSchema } from './schema-check.ts';

const ajv = new Ajv2020({ strict: false, validateSchema: false, ownProperties: true });

const fits = (value: Json, schema: JsonObject) => fitsSchema(value, schema, schema, new StepBudget(10_000));

const TREE: JsonObject = {
  type: 'object',
  properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
};
const CONDITION: JsonObject = {
  if: { properties: { country: { const: 'US' } } },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema language
  then: { properties: { zip: { pattern: '^\\d{5}$' } } },
  else: { properties: { zip: { pattern: '^[A-Z]\\d[A-Z]$' } } },
};
const PATTERN_NAMES: JsonObject = {
  properties: { x_a: { minimum: 10 } },
  patternProperties: { '^x_': { type: 'integer', maximum: 12 } },
  additionalProperties: false,
};

describe('fitsSchema', () => {
  it.each<[string, JsonObject, valid: Json, invalid: Json]>([
    ['type', { type: ['integer', 'null'] }, 3, 3.5],
    ['const', { const: { a: [1, 'b'] } }, { a: [1, 'b'] }, { a: [1, 'c'] }],
    ['enum', { enum: ['a', { b: 1 }] }, { b: 1 }, 'b'],
    ['references', TREE, { next: { next: null } }, { next: { next: 1 } }],
    ['allOf', { allOf: [{ minimum: 3 }, { maximum: 4 }] }, 3, 5],
    ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 3 }] }, 'a', 2],
    ['oneOf', { oneOf: [{ type: 'integer' }, { type: 'number' }] }, 0.5, 1],
    ['not', { type: 'integer', not: { const: 1 } }, 2, 1],
    ['if and then', CONDITION, { country: 'US', zip: '12345' }, { country: 'US', zip: 'A1B' }],
    ['if and else', CONDITION, { country: 'CA', zip: 'A1B' }, { country: 'CA', zip: '12345' }],
    ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 3],
    ['multipleOf', { multipleOf: 0.5 }, 1.5, 1.6],
    ['lengths', { minLength: 1, maxLength: 2 }, '😀😀', 'abc'],
    ['pattern', { pattern: '^[A-Z]{3}-\\d{2}$' }, 'ABC-12', 'ABC'],
    ['numbers of items', { minItems: 1, maxItems: 2 }, [1], []],
    ['uniqueItems', { uniqueItems: true }, [{ a: 1 }, { a: 2 }, 1], [{ a: 1 }, { a: 1 }]],
    ['prefixItems', { prefixItems: [{ type: 'null' }], items: { type: 'string' } }, [null, 'a'], [null, 1]],
    ['contains', { contains: { type: 'string' }, minContains: 2, maxContains: 3 }, [1, 'a', 'b'], ['a', 1]],
    ['required', { required: ['toString'] }, { toString: 1 }, {}],
    ['numbers of members', { minProperties: 1, maxProperties: 2 }, { a: 1 }, { a: 1, b: 2, c: 3 }],
    ['propertyNames', { propertyNames: { pattern: '^[A-Z]+$' } }, { AB: 1 }, { ab: 1 }],
    ['patternProperties', PATTERN_NAMES, { x_a: 11, x_b: 1 }, { x_a: 1 }],
    ['additionalProperties', PATTERN_NAMES, { x_b: 12 }, { y: 1 }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, { b: 1 }, { a: 1 }],
  ])('checks %s', (_, schema, valid, invalid) => {
    expect([fits(valid, schema), fits(invalid, schema)]).toEqual([true, false]);
    expect([ajv.compile(schema)(valid), ajv.compile(schema)(invalid)]).toEqual([true, false]);
  });

  it('checks `dependencies` of older schemas', () => {
    const schema = { dependencies: { a: ['b'], c: { required: ['d'] } } };
    const values = [{ a: 1, b: 1 }, { a: 1 }, { c: 1 }];
    expect(values.map((value) => fits(value, schema))).toEqual([true, false, false]);
  });

  it('ignores unknown keywords', () => {
    expect(fits('x', { format: 'date', unknown: 1, pattern: '(?=y)' })).toBe(true);
  });

  it.each(['minLength', 'maxLength', 'pattern', 'minItems', 'maxProperties', 'minContains', 'minimum'])(
    'ignores a malformed %s, even one that cannot be converted',
    (keyword) => {
      const schema = { [keyword]: { toString: 1, valueOf: 1 }, contains: true };
      for (const value of ['x', ['x'], { x: 1 }, 1]) expect(fits(value, schema)).toBe(true);
    },
  );

  it('accepts every value once the budget is spent', () => {
    expect(fitsSchema('x', { type: 'null' }, {}, new StepBudget(0))).toBe(true);
  });
});

it('is not held up by a pattern of large classes that ignores case, as a hostile MCP server may write it', () => {
  const pattern = `(?i:${'[\\s\\S]'.repeat(670)})`;
  const started = process.cpuUsage().user;
  // A pattern above the limits rules nothing out.
  expect(fits({ q: 'abc' }, { properties: { q: { pattern } } })).toBe(true);
  expect(process.cpuUsage().user - started).toBeLessThan(1_000_000);
});
