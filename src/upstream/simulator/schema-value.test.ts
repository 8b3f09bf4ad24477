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
      'a least number of members',
      { type: 'object', minProperties: 3, additionalProperties: { type: 'integer' } },
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
    ['exactly one of several', { oneOf: [{ type: 'integer' }, { type: 'number' }] }],
    [
      'exactly one of several objects',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
    ],
    [
      'parts that speak of the same member',
      {
        allOf: [
          { type: 'object', properties: { n: { type: 'number', minimum: 3 } } },
          { properties: { n: { type: 'integer', maximum: 3 } }, required: ['n'] },
        ],
      },
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
    [
      'members that ask for others, in older words',
      { type: 'object', required: ['a'], dependencies: { a: ['b'] }, additionalProperties: { type: 'null' } },
    ],
    [
      'members that ask for more of the whole',
      {
        type: 'object',
        properties: { card: { type: 'integer' } },
        required: ['card'],
        dependentSchemas: { card: { properties: { owner: { type: 'boolean' } }, required: ['owner'] } },
      },
    ],
    ['a forbidden value', { type: 'integer', minimum: 1, maximum: 2, not: { const: 1 } }],
    ['a forbidden value of an enum', { enum: ['a', 'b', 'c'], not: { enum: ['a', 'b'] } }],
    ['a forbidden type', { not: { type: ['string', 'integer', 'number'] } }],
    ['a forbidden text', { type: 'string', minLength: 3, not: { pattern: '^simulated' } }],
    [
      'names that fit a pattern',
      {
        type: 'object',
        required: ['x_one', 'n_1', 'other'],
        properties: { other: { type: 'boolean' } },
        patternProperties: { '^x_': { type: 'integer' }, '^n_\\d+$': { enum: ['number'] } },
        additionalProperties: false,
      },
    ],
    [
      'names that fit a pattern and more',
      {
        type: 'object',
        properties: { x_a: { minimum: 10 } },
        required: ['x_a'],
        patternProperties: { '^x_': { type: 'integer', maximum: 12 } },
      },
    ],
    [
      'a least number of members whose names fit a pattern',
      {
        type: 'object',
        minProperties: 3,
        patternProperties: { '^x_[a-z]*$': { type: 'integer' } },
        additionalProperties: false,
      },
    ],
    [
      'a rule for all names',
      { type: 'object', minProperties: 2, propertyNames: { pattern: '^[A-Z]+$', maxLength: 4 } },
    ],
    [
      'a condition',
      {
        type: 'object',
        properties: { country: { enum: ['CA', 'US'] }, zip: { type: 'string' } },
        required: ['country', 'zip'],
        if: { properties: { country: { const: 'US' } } },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema language
        then: { properties: { zip: { pattern: '^\\d{5}$' } } },
        else: { properties: { zip: { pattern: '^[A-Z]\\d[A-Z]$' } } },
      },
    ],
    [
      'a condition that cannot be met',
      {
        type: 'object',
        properties: { kind: { const: 'b' } },
        required: ['kind'],
        if: { properties: { kind: { const: 'a' } }, required: ['kind'] },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema language
        then: { required: ['never'] },
        else: { required: ['always'] },
      },
    ],
    [
      'several conditions',
      {
        type: 'object',
        properties: { kind: { enum: ['circle', 'square'] }, radius: { type: 'number' } },
        required: ['kind'],
        allOf: [
          {
            if: { properties: { kind: { const: 'square' } } },
            // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema language
            then: { properties: { side: { type: 'integer' } }, required: ['side'] },
          },
          {
            if: { properties: { kind: { const: 'circle' } } },
            // biome-ignore lint/suspicious/noThenProperty: the keyword of the schema language
            then: { properties: { radius: { exclusiveMinimum: 7 } }, required: ['radius'] },
          },
        ],
      },
    ],
    [
      'two unions side by side',
      {
        allOf: [
          { anyOf: [{ type: 'string' }, { type: 'integer' }] },
          { anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 4 }] },
        ],
      },
    ],
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
    expect(Object.keys(schemaValue({ type: 'object', minProperties: 600 }) as JsonObject)).toHaveLength(600);
    const wide = {
      type: 'object',
      properties: members(300, () => ({ anyOf: [{ type: 'integer' }, { type: 'null' }] })),
      required: names(300),
    };
    expect(problemsOf(wide, schemaValue(wide))).toBe('');
  });

  it('leaves out optional members where there are very many', () => {
    const schema = { type: 'object', properties: members(4900, () => ({ type: 'string' })) };
    expect(Object.keys(schemaValue(schema) as JsonObject).length).toBeLessThan(1000);
  });

  /** Schemas that cost too much to be met. */
  const GREEDY: [string, JsonObject][] = [
    ['unions that lead back', { anyOf: [{ $ref: '#' }, { $ref: '#' }], not: {} }],
    [
      'names that cannot be',
      { type: 'object', minProperties: 300, propertyNames: { not: { type: 'string' } } },
    ],
    [
      'a long chain',
      { $ref: '#/$defs/k0', $defs: members(4900, (index) => ({ $ref: `#/$defs/k${index + 1}` })) },
    ],
    ['a long pattern', lists({ type: 'string', minLength: 4096, pattern: `a?|${'x'.repeat(100_000)}` }, 100)],
    ['a long reference', lists({ $ref: `#${'/'.repeat(1_000_000)}` }, 256)],
    [
      'references to a wide part',
      alike(2000, { properties: members(4900, () => ({})), required: names(4900) }),
    ],
    ['a large constant', lists(lists({ const: 'z'.repeat(100_000) }, 140), 140)],
    ['a constant many times', lists(lists({ const: 'z'.repeat(1000) }, 256), 256)],
    ['many long texts', lists(lists({ type: 'string', minLength: 4096 }, 140), 140)],
    [
      'a constant of many values',
      lists({ const: Array.from({ length: 3000 }, (_, index) => ({ index })) }, 99),
    ],
    [
      'members that lead back',
      { type: 'object', properties: members(3, () => ({ $ref: '#' })), required: names(3) },
    ],
    ['parts that lead back', alike(10, { $ref: '#' })],
    ['lists that lead back', { type: 'array', minItems: 9, items: { $ref: '#' } }],
    ['an endless list', { type: 'array', minItems: 1e9 }],
    ['an endless list of nothing', { type: 'array', minItems: 1e9, items: false }],
    ['a list that contains much', { type: 'array', contains: { type: 'integer' }, minContains: 1e9 }],
    ['an endless text', { type: 'string', minLength: 1e9 }],
    ['very many members', { type: 'object', minProperties: 1e9 }],
    [
      'patterns for many names',
      {
        type: 'object',
        required: Array.from({ length: 2000 }, (_, index) => `${'a'.repeat(40)}${index}`),
        patternProperties: Object.fromEntries(
          Array.from({ length: 2000 }, (_, index) => [`^(a*)*${index}$`, { type: 'integer' }]),
        ),
      },
    ],
    ['many keywords', lists({ ...members(4900, () => ({})), type: 'integer' }, 256)],
    [
      'many names to pass over',
      lists({ type: 'object', properties: members(4900, () => ({})), maxProperties: 0 }, 256),
    ],
    ['conditions on every name', alike(40, { dependentSchemas: members(4900, () => ({})) })],
    [
      'unions that have no value',
      { type: 'none', ...alike(30, { anyOf: [{ minimum: 1 }, { minimum: 2 }] }) },
    ],
  ];

  /** Schemas that have a short value, or none, among very many. */
  const TEDIOUS: [string, JsonObject][] = [
    ['nested repetitions', { type: 'string', pattern: '^((a{1000}){1000}){400}$' }],
    ['values in common', { allOf: [1, 2].map((part) => ({ enum: objects(5000, part) })) }],
    ['many branches', { oneOf: Array.from({ length: 5000 }, () => ({ type: 'string' })) }],
    ['many values', lists({ enum: texts(10_000), not: { enum: texts(9_999) } }, 256)],
    [
      'many unique objects',
      {
        ...lists({ type: 'object', properties: members(1, () => ({ type: 'integer' })) }, 900),
        uniqueItems: true,
        not: {},
      },
    ],
    [
      'wide schemas to check',
      lists({ anyOf: [{ type: 'integer' }, {}], properties: members(4900, () => ({})) }, 256),
    ],
    ['a large class', { type: 'string', minLength: 3000, not: { pattern: `([${wide(20_000)}]|.)*Q` } }],
    [
      'many heads',
      { type: 'array', prefixItems: Array.from({ length: 90_000 }, () => ({ type: 'string' })) },
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

  it('counts as written only what is in the answer', () => {
    const allowance = new Allowance();
    const text = { type: 'string', minLength: 1000 };
    const value = schemaValue(
      { oneOf: [text, { ...text, maxLength: 2000 }, text, { type: 'null' }] },
      allowance,
    );
    expect(value).toBeNull();
    expect(65_536 - allowance.characters).toBeLessThan(10);
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

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `v${index}`);
}

function objects(count: number, kind: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({ a: { kind, index } }));
}

/** So many different characters. */
function wide(count: number): string {
  return Array.from({ length: count }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
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
