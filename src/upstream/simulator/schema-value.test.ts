import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { Allowance, schemaValue, UnmetSchema } from './schema-value.ts';

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
      'members that exclude each other',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
        required: ['c'],
        not: { required: ['a', 'b'] },
      },
    ],
    [
      'a forbidden member',
      { type: 'object', properties: { a: false, b: { type: 'null' } }, not: { required: ['d'] } },
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

  it('takes the default of a text if that fits', () => {
    const zone = (more: object) => schemaValue({ type: 'string', default: 'UTC', ...more } as JsonObject);
    expect(zone({})).toBe('UTC');
    expect(zone({ minLength: 4 })).toBe('simulated answer');
    expect(schemaValue({ type: 'array', minItems: 2, items: { type: 'string', default: 'a' } })).toEqual([
      'a',
      'simulated answer 1',
    ]);
  });

  it('prefers small numbers', () => {
    const wide = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
    expect(schemaValue(wide)).toBe(1);
  });

  it.each<[string, JsonObject]>([
    [
      'members that ask for others',
      {
        type: 'object',
        properties: { card: { type: 'integer' } },
        required: ['card'],
        dependentRequired: { card: ['address'], address: ['city'] },
        additionalProperties: { type: 'string' },
      },
    ],
    ['a forbidden value', { type: 'integer', minimum: 1, maximum: 2, not: { const: 1 } }],
    ['a least number of members', { type: 'object', minProperties: 3 }],
    ['exactly one of several', { oneOf: [{ type: 'integer' }, { type: 'number' }] }],
    ['no finite value', { type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] }],
    ['a pattern that no sample matches', { type: 'string', pattern: '^[A-Z]{3}-\\d{2}$' }],
  ])('refuses what it does not build, rather than answer with an invalid value: %s', (_, schema) => {
    expect(() => schemaValue(schema)).toThrow(UnmetSchema);
  });

  it.each([
    '^[a-z]+$',
    '^\\d{5}$',
    '^\\+?[0-9]{7,15}$',
    '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
    '^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$',
    '^#(?<hex>[0-9a-fA-F]{6})$',
    '',
    '^[-+]?\\d*\\.\\d+?$',
    '^[\\p{L}\\d]{3}$',
  ])('has a sample for the pattern %s', (pattern) => {
    expect(schemaValue({ type: 'string', pattern })).toMatch(new RegExp(pattern, 'u'));
  });

  it('leaves out optional members that make the value invalid', () => {
    const never = { type: 'object', properties: { a: { not: {} }, b: { type: 'null' } }, required: ['b'] };
    expect(schemaValue(never)).toEqual({ b: null });
  });

  it.each<[string, JsonObject]>([
    [
      'unions of references',
      {
        $ref: '#/$defs/term',
        $defs: {
          term: { anyOf: [{ $ref: '#/$defs/sum' }, { $ref: '#/$defs/number' }] },
          sum: {
            type: 'object',
            properties: { left: { $ref: '#/$defs/term' }, right: { $ref: '#/$defs/term' } },
            required: ['left', 'right'],
          },
          number: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] },
        },
      },
    ],
    ['many optional members', { type: 'object', properties: members(15, () => ({ $ref: '#' })) }],
  ])('ends recursion through %s with a valid value', (_, schema) => {
    const value = schemaValue(schema);
    expect(problemsOf(schema, value)).toBe('');
    expect(JSON.stringify(value).length).toBeLessThan(65_536);
  });

  it('writes as much as is asked for, while that is little enough', () => {
    const list = schemaValue({ type: 'array', minItems: 1000, items: { type: 'integer' } });
    expect(list).toHaveLength(1000);
    expect(schemaValue({ type: 'string', minLength: 20_000 })).toHaveLength(20_000);
    const wide = {
      type: 'object',
      properties: members(300, () => ({ anyOf: [{ type: 'integer' }, { type: 'null' }] })),
      required: names(300),
    };
    expect(problemsOf(wide, schemaValue(wide))).toBe('');
  });

  it('leaves out optional members where there are very many', () => {
    const schema = { type: 'object', properties: members(4900, () => ({ type: 'string' })) };
    expect(Object.keys(schemaValue(schema) as JsonObject).length).toBeLessThan(2000);
  });

  /** Schemas that cost too much to be met. */
  const GREEDY: [string, JsonObject][] = [
    ['unions that lead back', { anyOf: [{ $ref: '#' }, { $ref: '#' }], not: {} }],
    [
      'a long chain',
      { $ref: '#/$defs/k0', $defs: members(4900, (index) => ({ $ref: `#/$defs/k${index + 1}` })) },
    ],
    ['a long pattern', lists({ type: 'string', minLength: 4096, pattern: `a?|${'x'.repeat(100_000)}` }, 100)],
    ['a long reference', lists({ $ref: `#${'/'.repeat(1_000_000)}` }, 256)],
    [
      'references to a wide part',
      lists(alike(2000, { properties: members(4900, () => ({})), required: names(4900) }), 9),
    ],
    ['a constant many times', lists(lists({ const: 'z'.repeat(1000) }, 256), 256)],
    ['many long texts', lists(lists({ type: 'string', minLength: 4096 }, 140), 140)],
    [
      'members that lead back',
      { type: 'object', properties: members(3, () => ({ $ref: '#' })), required: names(3) },
    ],
    [
      'parts that double at each level',
      { $ref: '#/$defs/k0', $defs: members(30, (index) => parts(`k${index + 1}`)) },
    ],
    ['lists that lead back', { type: 'array', minItems: 9, items: { $ref: '#' } }],
    ['an endless list', { type: 'array', minItems: 1e9 }],
    ['an endless text', { type: 'string', minLength: 1e9 }],
    ['many keywords', lists({ ...members(4900, () => ({})), type: 'integer' }, 256)],
    [
      'many names to pass over',
      lists({ type: 'object', properties: members(4900, () => ({})), maxProperties: 0 }, 256),
    ],
  ];

  /** Schemas that have a short value among very many. */
  const TEDIOUS: [string, JsonObject][] = [
    ['many branches', { anyOf: Array.from({ length: 5000 }, () => ({ type: 'string' })) }],
    ['many values', lists({ enum: names(10_000) }, 256)],
    [
      'wide schemas to check',
      lists({ anyOf: [{ type: 'integer' }, {}], properties: members(100, () => ({})) }, 256),
    ],
    [
      'many heads',
      { type: 'array', prefixItems: Array.from({ length: 90_000 }, () => ({ type: 'string' })), maxItems: 9 },
    ],
  ];

  it.each(GREEDY)('refuses %s', (_, schema) => {
    expect(() => schemaValue(schema)).toThrow(UnmetSchema);
  });

  it.each(TEDIOUS)('gives a short value for %s', (_, schema) => {
    expect(JSON.stringify(schemaValue(schema)).length).toBeLessThan(65_536);
  });

  it.each([...GREEDY, ...TEDIOUS])('looks at little of %s', (_, schema) => {
    const seen = { count: 0 };
    try {
      schemaValue(watched(schema, seen) as JsonObject);
    } catch (error) {
      expect(error).toBeInstanceOf(UnmetSchema);
    }
    expect(seen.count).toBeLessThan(200_000);
  });

  it('pays for all values of an answer from one allowance', () => {
    const allowance = new Allowance();
    const schema = { type: 'string', minLength: 20_000 };
    for (let time = 0; time < 3; time++) schemaValue(schema, allowance);
    expect(() => schemaValue(schema, allowance)).toThrow(UnmetSchema);
  });

  it('takes a reference that is not well encoded for one that leads nowhere', () => {
    expect(schemaValue({ $ref: '#/%E0%A4%A' })).toBe('simulated answer');
  });
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `k${index}`);
}

function members(count: number, schemaAt: (index: number) => JsonObject): JsonObject {
  return Object.fromEntries(names(count).map((name, index) => [name, schemaAt(index)]));
}

function lists(items: JsonObject, minItems: number): JsonObject {
  return { type: 'array', minItems, items };
}

/** Many parts that are all the same one. */
function alike(count: number, part: JsonObject): JsonObject {
  return { $defs: { part }, allOf: Array.from({ length: count }, () => ({ $ref: '#/$defs/part' })) };
}

/** Two parts that are the same reference, but for text that does not count. */
function parts(name: string): JsonObject {
  return { allOf: [{ allOf: [{ $ref: `#/$defs/${name}` }] }, { $ref: `#/$defs/${name}` }] };
}

/** The same value, which counts how often something in it is looked at. */
function watched(value: Json, seen: { count: number }, known = new Map<object, object>()): Json {
  if (typeof value !== 'object' || value === null) return value;
  const proxy =
    known.get(value) ??
    new Proxy(value, {
      get(target, name) {
        seen.count += 1;
        return watched(Reflect.get(target, name), seen, known);
      },
      ownKeys(target) {
        const keys = Reflect.ownKeys(target);
        seen.count += keys.length;
        return keys;
      },
    });
  known.set(value, proxy);
  return proxy as Json;
}
