import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kit/json.ts';
import { schemaValue } from './schema-value.ts';

const FORMAT_PATTERNS: Record<string, RegExp> = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  time: /^\d\d:\d\d:\d\dZ$/,
  email: /^[^@\s]+@[^@\s]+\.[a-z]+$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  uri: /^https:\/\/\S+$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  hostname: /^[a-z0-9.-]+$/,
};

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  formats: FORMAT_PATTERNS,
});

function problemsOf(schema: JsonObject, value: unknown): string {
  const validate = ajv.compile(schema);
  ajv.removeSchema(schema);
  return validate(value) ? '' : ajv.errorsText(validate.errors);
}

/** Schemas of the kind that tools and structured outputs use; every one of them has a valid value. */
const schemas: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonObject>(
      { type: 'boolean' },
      { type: 'null' },
      { type: ['string', 'null'] },
      { type: ['null', 'integer'] },
      { const: 'fixed' },
      { const: null },
      { enum: ['a', 2, null, { b: 1 }] },
      ...Object.keys(FORMAT_PATTERNS).map((format) => ({ type: 'string', format })),
    ),
    fc
      .record({ least: fc.nat(30), more: fc.nat(30) })
      .map(({ least, more }): JsonObject => ({ type: 'string', minLength: least, maxLength: least + more })),
    fc
      .record({ least: fc.integer({ min: -100, max: 100 }), more: fc.nat(50) })
      .map(({ least, more }): JsonObject => ({ type: 'integer', minimum: least, maximum: least + more })),
    fc.record({ least: fc.integer({ min: -100, max: 100 }), more: fc.integer({ min: 1, max: 50 }) }).map(
      ({ least, more }): JsonObject => ({
        type: 'number',
        exclusiveMinimum: least,
        exclusiveMaximum: least + more,
      }),
    ),
    fc
      .record({ step: fc.integer({ min: 1, max: 9 }), least: fc.integer({ min: -50, max: 50 }) })
      .map(({ step, least }): JsonObject => ({ type: 'integer', multipleOf: step, exclusiveMinimum: least })),
    fc.integer({ min: -50, max: 50 }).map((most): JsonObject => ({ type: 'number', maximum: most })),
    fc.record({ items: tie('schema'), least: fc.nat(3), more: fc.nat(3) }).map(
      ({ items, least, more }): JsonObject => ({
        type: 'array',
        items,
        minItems: least,
        maxItems: least + more,
      }),
    ),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf): JsonObject => ({ anyOf })),
    fc
      .dictionary(fc.constantFrom('name', 'city', 'count', 'tags', 'inner'), tie('schema'), { maxKeys: 4 })
      .chain((properties) =>
        fc.subarray(Object.keys(properties)).map(
          (required): JsonObject => ({
            type: 'object',
            properties: { ...properties },
            required,
            additionalProperties: false,
          }),
        ),
      ),
  ),
})).schema;

describe('schemaValue', () => {
  it('is valid for its schema, and the same every time', () => {
    fc.assert(
      fc.property(schemas, (schema) => {
        const value = schemaValue(schema);
        expect(problemsOf(schema, value)).toBe('');
        expect(schemaValue(schema)).toEqual(value);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, JsonObject]>([
    [
      'references',
      {
        type: 'object',
        properties: {
          a: { $ref: '#/$defs/point' },
          list: { type: 'array', items: { $ref: '#/$defs/point' } },
        },
        required: ['a', 'list'],
        $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
      },
    ],
    [
      'recursion through an optional member',
      { type: 'object', properties: { name: { type: 'string' }, child: { $ref: '#' } }, required: ['name'] },
    ],
    [
      'recursion through a union',
      {
        $ref: '#/$defs/tree',
        $defs: {
          tree: {
            type: 'object',
            properties: { next: { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] } },
            required: ['next'],
          },
        },
      },
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'integer' } }, required: ['b'] },
        ],
      },
    ],
    ['oneOf', { oneOf: [{ type: 'integer', minimum: 5 }, { type: 'string' }] }],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2, items: false },
    ],
    ['unique items', { type: 'array', items: { type: 'string' }, minItems: 4, uniqueItems: true }],
    [
      'unique items of an enum',
      { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3, uniqueItems: true },
    ],
    [
      'a least number of members',
      { type: 'object', minProperties: 3, additionalProperties: { type: 'integer' } },
    ],
    ['no type', { properties: { a: {} }, required: ['a'] }],
    ['an empty schema', {}],
    [
      'awkward names',
      { type: 'object', properties: { constructor: { type: 'integer' } }, required: ['constructor'] },
    ],
  ])('knows %s', (_, schema) => {
    expect(problemsOf(schema, schemaValue(schema))).toBe('');
  });

  it('prefers small numbers', () => {
    const wide = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    expect(schemaValue(wide)).toBe(1);
  });

  it('ends on a schema that has no finite value', () => {
    const schema = { type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] };
    expect(() => schemaValue(schema)).not.toThrow();
  });

  it.each([
    ['parts that lead back', { allOf: Array.from({ length: 10 }, () => ({ $ref: '#' })) }],
    [
      'members that lead back',
      {
        type: 'object',
        properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } },
        required: ['a', 'b', 'c'],
      },
    ],
    ['lists that lead back', { type: 'array', minItems: 9, items: { $ref: '#' } }],
  ])('ends soon on %s again and again', (_, schema) => {
    const started = performance.now();
    schemaValue(schema);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('takes a reference that is not well encoded for one that leads nowhere', () => {
    expect(schemaValue({ $ref: '#/%E0%A4%A' })).toBe('simulated answer');
  });
});
