import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { StepBudget } from '../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../kit/json-schema/schema-check.ts';
import { resolveReference, widthOf } from '../../kit/json-schema/schema-parts.ts';

const MAX_STEPS = 40_000;
const MAX_CHECK_STEPS = 30_000;
/** About 16,000 tokens: real models stop there too. */
const MAX_CHARACTERS = 65_536;
const CHARACTERS_PER_STEP = 16;
/** Steps for a member of a schema that is copied. */
const COPY_STEPS = 2;
/** Levels of lists and objects in a value; references followed on the way to one. */
const MAX_DEPTH = 32;
/** Optional members are written above this depth only. */
const OPTIONAL_DEPTH = 4;
/** Optional members of one object or list. */
const MAX_OPTIONAL = 256;
/** Characters of a member's name that its text repeats. */
const MAX_SHOWN_NAME = 64;

/** Thrown for a schema that asks for too much, or for something that the simulator does not build. */
export class UnmetSchema extends Error {}

/**
 * Budget for the values of one simulated answer. Work is paid for before it is done, so that no schema can
 * hold up the event loop.
 */
export class Allowance {
  /** Characters of JSON that may still be written, escapes not counted. */
  characters = MAX_CHARACTERS;
  /** For checking values: what exceeds it counts as valid. */
  readonly checking = new StepBudget(MAX_CHECK_STEPS);
  #steps = MAX_STEPS;

  /** Whether enough is left for optional members. */
  get isAmple(): boolean {
    return this.#steps > MAX_STEPS / 2 && this.characters > MAX_CHARACTERS / 2;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new UnmetSchema();
  }

  write(characters: number): void {
    this.spend(1 + characters / CHARACTERS_PER_STEP);
    this.characters -= characters;
    if (this.characters < 0) throw new UnmetSchema();
  }
}

/** Where a value is built. */
interface Place {
  readonly root: JsonObject;
  readonly allowance: Allowance;
  readonly hasOptional: boolean;
  readonly depth: number;
  /** Position in the innermost list; makes its items differ. */
  readonly index: number;
  /** Name of the innermost member, for readable text. */
  readonly name: string;
  /** Targets of references that contain this place: inside one of them it is not entered again. */
  readonly targets: readonly Json[];
}

/**
 * A plain value that is valid for a JSON Schema, the same every time; if optional members make it invalid, they are
 * left out. Builds what type, members, items, bounds, formats, constants, unions, `allOf` and local references ask
 * for; other keywords are only checked. Throws `UnmetSchema` if the value does not fit or costs more than the
 * allowance.
 */
export function schemaValue(schema: JsonObject, allowance = new Allowance()): Json {
  const { characters } = allowance;
  for (const hasOptional of [true, false]) {
    allowance.characters = characters;
    const start = { root: schema, allowance, hasOptional, depth: 0, index: 0, name: 'answer' };
    const value = build(schema, { ...start, targets: [schema] });
    if (value !== undefined && fitsSchema(value, schema, schema, allowance.checking)) return value;
  }
  throw new UnmetSchema();
}

/** Undefined if the schema allows no value here, such as one that requires itself. */
function build(given: Json, place: Place): Json | undefined {
  if (place.depth > MAX_DEPTH) return undefined;
  const targets: Json[] = [];
  const schema = flatten(given, place, targets);
  if (schema === undefined) return undefined;
  const inside = { ...place, targets: [...place.targets, ...targets] };
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: branches, ...rest } = schema;
    if (Array.isArray(branches) && branches.length > 0) return firstFitting(branches, rest, schema, inside);
  }
  if (schema.const !== undefined) return paid(schema.const, place.allowance);
  if (Array.isArray(schema.enum)) {
    return paid(schema.enum[place.index % schema.enum.length] ?? null, place.allowance);
  }
  return lookUp(VALUES, typeOf(schema))?.(schema, inside);
}

/** The value of the first branch whose value is valid for the whole schema. */
function firstFitting(
  branches: readonly Json[],
  rest: JsonObject,
  schema: JsonObject,
  place: Place,
): Json | undefined {
  const { root, allowance } = place;
  const { characters } = allowance;
  for (const branch of branches) {
    allowance.characters = characters;
    const value = build({ ...rest, allOf: [branch] }, place);
    if (value !== undefined && fitsSchema(value, schema, root, allowance.checking)) return value;
  }
  return undefined;
}

/**
 * A schema with its references followed and the parts of `allOf` merged into it. Adds the targets of the references to
 * `targets`. Undefined for `false` and for a reference to what contains it.
 */
function flatten(given: Json, place: Place, targets: Json[]): JsonObject | undefined {
  const { allowance } = place;
  if (given === false) return undefined;
  if (!isJsonObject(given)) return {};
  allowance.spend((widthOf(given) + widthOf(given.allOf)) * COPY_STEPS);
  const { $ref, allOf, ...rest } = given;
  const parts = Array.isArray(allOf) ? [...allOf] : [];
  if (typeof $ref === 'string') {
    allowance.spend($ref.length);
    const target = resolveReference($ref, place.root);
    if (place.targets.includes(target) || place.targets.length + targets.length > MAX_DEPTH) return undefined;
    if (!targets.includes(target)) parts.push(target);
    targets.push(target);
  }
  let schema: JsonObject = rest;
  for (const part of parts) {
    const flat = flatten(part, place, targets);
    if (flat === undefined) return undefined;
    schema = merge(schema, flat, allowance);
  }
  return schema;
}

/** One schema that asks for what both ask for; for keywords that cannot be merged, what the second asks for. */
function merge(first: JsonObject, second: JsonObject, allowance: Allowance): JsonObject {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  allowance.spend(names.size * COPY_STEPS);
  return Object.fromEntries(
    [...names].map((keyword) => {
      const [one, other] = [lookUp(first, keyword), lookUp(second, keyword)];
      if (one === undefined || other === undefined) return [keyword, one ?? other];
      allowance.spend((widthOf(one) + widthOf(other)) * COPY_STEPS);
      return [keyword, mergeKeyword(keyword, one, other)];
    }),
  );
}

function mergeKeyword(keyword: string, first: Json, second: Json): Json {
  if (keyword === 'required') return [...new Set([first, second].flat())];
  if (keyword === 'properties' && isJsonObject(first) && isJsonObject(second)) {
    const common = Object.keys(second).filter((name) => Object.hasOwn(first, name));
    const merged = common.map((name) => [name, { allOf: [first[name], second[name]] }]);
    return { ...first, ...second, ...Object.fromEntries(merged) };
  }
  if (typeof first !== 'number' || typeof second !== 'number') return second;
  if (/^(min|exclusiveMin)/.test(keyword)) return Math.max(first, second);
  return /^(max|exclusiveMax)/.test(keyword) ? Math.min(first, second) : second;
}

/** A value as it is, paid for with everything inside it. */
function paid(value: Json, allowance: Allowance): Json {
  if (typeof value !== 'object' || value === null) {
    allowance.write(String(value).length + 2);
    return value;
  }
  allowance.write(widthOf(value) + 1);
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) allowance.write(name.length + 3);
    paid(member ?? null, allowance);
  }
  return value;
}

/** Keywords that tell the type of a schema without one. */
const IMPLIED_TYPES: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

function typeOf(schema: JsonObject): string {
  const types = [schema.type].flat().filter(isString);
  const implied = Object.entries(IMPLIED_TYPES).find(([, keywords]) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  return types.find((type) => type !== 'null') ?? types[0] ?? implied?.[0] ?? 'string';
}

const VALUES: Readonly<Record<string, (schema: JsonObject, place: Place) => Json | undefined>> = {
  null: (_, { allowance }) => paid(null, allowance),
  boolean: (_, { allowance, index }) => paid(index % 2 === 0, allowance),
  integer: (schema, { allowance, index }) => paid(numberOf(schema, index, 1), allowance),
  number: (schema, { allowance, index }) => paid(numberOf(schema, index, 0.5), allowance),
  string: textOf,
  array: listOf,
  object: objectOf,
};

/** A small number if the bounds allow one, else one near a bound or between both. */
function numberOf(schema: JsonObject, index: number, unit: number): number {
  const minimum = numeric(schema.minimum) ?? Number.NEGATIVE_INFINITY;
  const maximum = numeric(schema.maximum) ?? Number.POSITIVE_INFINITY;
  const above = numeric(schema.exclusiveMinimum) ?? Number.NEGATIVE_INFINITY;
  const below = numeric(schema.exclusiveMaximum) ?? Number.POSITIVE_INFINITY;
  const step = numeric(schema.multipleOf) ?? unit;
  const small = (index + 1) * step;
  const least = Math.max(minimum, above);
  const most = Math.min(maximum, below);
  const first = Math.ceil(least / step) * step;
  const last = Math.floor(most / step) * step;
  const numbers = [small, first + small, first + step, first, last, last - step, (least + most) / 2];
  const isInside = (value: number) =>
    Number.isFinite(value) && value >= minimum && value <= maximum && value > above && value < below;
  return numbers.find(isInside) ?? small;
}

/** Values of the string formats by position in a list. */
const FORMATS: Readonly<Record<string, (index: number) => string>> = {
  'date-time': (index) => `2025-01-01T00:00:${String(index % 60).padStart(2, '0')}Z`,
  date: (index) => `2025-01-${String((index % 28) + 1).padStart(2, '0')}`,
  time: (index) => `12:00:${String(index % 60).padStart(2, '0')}Z`,
  duration: (index) => `PT${index + 1}S`,
  email: (index) => `simulated${index}@example.com`,
  hostname: (index) => `simulated${index}.example.com`,
  uri: (index) => `https://example.com/simulated/${index}`,
  uuid: (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  ipv4: (index) => `192.0.2.${index % 256}`,
  ipv6: (index) => `2001:db8::${index.toString(16)}`,
};

/** Texts for a `pattern`: the first that it matches is taken. */
const SAMPLES = [
  ...['a', 'A', '1', 'ab', 'AB', 'ABC', '12', '123', '1234', '12345', '123456', 'a1', 'A1', 'a-b', 'a_b'],
  ...['2025-01-01', '12:00', '1.0', '1.0.0', '#a1b2c3', '+15550100000', '/simulated', 'a@example.com'],
  ...['https://example.com/', 'example.com', '00000000-0000-4000-8000-000000000000'],
];

function textOf(schema: JsonObject, { root, index, name, allowance }: Place): Json {
  const { default: usual } = schema;
  if (isString(usual) && usual !== '' && index === 0 && fitsSchema(usual, schema, root, allowance.checking)) {
    return paid(usual, allowance);
  }
  const least = numeric(schema.minLength) ?? 0;
  const most = numeric(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  const { format, pattern } = schema;
  const formatted = isString(format) ? lookUp(FORMATS, format)?.(index) : undefined;
  if (formatted !== undefined) return paid(formatted, allowance);
  const shown = name.slice(0, MAX_SHOWN_NAME).replace(/[_-]+/g, ' ');
  const text = `simulated ${shown}${index === 0 ? '' : ` ${index}`}`.slice(0, most);
  if (isString(pattern)) {
    const fitting = [text, ...SAMPLES].find(
      (sample) => sample.length >= least && allowance.checking.matches(pattern, sample) === true,
    );
    if (fitting !== undefined) return paid(fitting, allowance);
  }
  allowance.write(Math.max(text.length, least) + 2);
  return text.padEnd(least, '.');
}

function takesOptional({ hasOptional, depth, allowance }: Place): boolean {
  return hasOptional && depth < OPTIONAL_DEPTH && allowance.isAmple;
}

function listOf(schema: JsonObject, place: Place): Json | undefined {
  const heads = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const least = numeric(schema.minItems) ?? 0;
  const optional = takesOptional(place) ? Math.min(Math.max(heads.length, 1), MAX_OPTIONAL) : 0;
  const length = Math.min(Math.max(least, optional), numeric(schema.maxItems) ?? Number.POSITIVE_INFINITY);
  const list: Json[] = [];
  place.allowance.write(2);
  for (let index = 0; index < length; index++) {
    place.allowance.write(1);
    const item = heads[index] ?? schema.items ?? { type: 'string' };
    const value = build(item, { ...place, depth: place.depth + 1, index });
    if (value === undefined) return index < least ? undefined : list;
    list.push(value);
  }
  return list;
}

/** Members in the order of the schema, as models write them. */
function objectOf(schema: JsonObject, place: Place): Json | undefined {
  const { allowance } = place;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  allowance.spend(widthOf(properties) + widthOf(schema.required));
  const required = new Set([schema.required].flat().filter(isString));
  const least = numeric(schema.minProperties) ?? 0;
  const most = numeric(schema.maxProperties) ?? Number.POSITIVE_INFINITY;
  const wished = Math.max(least - required.size, takesOptional(place) ? MAX_OPTIONAL : 0);
  let optionalLeft = Math.min(wished, most - required.size);
  const members = new Map<string, Json>();
  const add = (name: string) => {
    const member = lookUp(properties, name) ?? schema.additionalProperties ?? { type: 'string' };
    const value = build(member, { ...place, depth: place.depth + 1, name });
    if (value === undefined) return false;
    allowance.write(name.length + 4);
    members.set(name, value);
    return true;
  };
  allowance.write(2);
  for (const name of new Set([...Object.keys(properties), ...required])) {
    if (required.has(name)) {
      if (!add(name)) return undefined;
    } else if (optionalLeft > 0 && add(name)) optionalLeft--;
  }
  for (let index = 1; members.size < least; index++) {
    if (!add(`simulated_${index}`)) return undefined;
  }
  return Object.fromEntries(members);
}

function numeric(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isString(value: Json | undefined): value is string {
  return typeof value === 'string';
}
