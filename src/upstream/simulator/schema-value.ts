import { lookUp } from '../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, stringsAt, textAt } from '../../kit/json/members.ts';
import { StepBudget } from '../../kit/json-schema/budget.ts';
import { fitsSchema } from '../../kit/json-schema/schema-check.ts';
import { resolveReference, widthOf } from '../../kit/json-schema/schema-parts.ts';

/** Characters written and members of schemas read for one answer: about 16,000 tokens, where real models stop too. */
const MAX_STEPS = 65_536;
const MAX_CHECK_STEPS = 30_000;
/** Levels of lists and objects in a value; references inside each other. */
const MAX_DEPTH = 32;
/** Optional members are written above this depth only. */
const OPTIONAL_DEPTH = 4;
/** Characters of a member's name that its text repeats. */
const MAX_SHOWN_NAME = 64;

/** Thrown for a schema that asks for too much, or for something that the simulator does not build. */
export class UnmetSchema extends Error {}

/**
 * Budget for the values of one simulated answer. Work is paid for before it is done, so that no schema can hold up the
 * event loop.
 */
export class Allowance {
  /** For checking values: what exceeds it counts as valid. */
  readonly checking = new StepBudget(MAX_CHECK_STEPS);
  #steps = MAX_STEPS;

  /** Whether enough is left for optional members. */
  get isAmple(): boolean {
    return this.#steps > MAX_STEPS / 2;
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new UnmetSchema();
  }
}

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
 * left out. Builds what types, members, items, bounds, formats, constants, unions, `allOf` and local references ask
 * for; other keywords are only checked. Throws `UnmetSchema` if the value does not fit or costs more than the
 * allowance.
 */
export function schemaValue(schema: JsonObject, allowance = new Allowance()): Json {
  for (const hasOptional of [true, false]) {
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
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches)) {
    const { anyOf: _any, oneOf: _one, ...rest } = schema;
    return firstOf(branches, rest, inside);
  }
  if (schema.const !== undefined) return paid(schema.const, place);
  if (Array.isArray(schema.enum)) return paid(schema.enum[place.index % schema.enum.length] ?? null, place);
  return lookUp(VALUES, typeOf(schema))?.(schema, inside);
}

/** The value of the first branch that has one. */
function firstOf(branches: readonly Json[], rest: JsonObject, place: Place): Json | undefined {
  for (const branch of branches) {
    const value = build({ ...rest, allOf: [branch] }, place);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * A schema with its references followed and the parts of `allOf` merged into it. Adds the targets of the references to
 * `targets`. Undefined for `false` and for a reference to what contains it.
 */
function flatten(given: Json, place: Place, targets: Json[]): JsonObject | undefined {
  const { allowance, root } = place;
  if (given === false) return undefined;
  if (!isJsonObject(given)) return {};
  allowance.spend(widthOf(given) + widthOf(given.allOf));
  if (given.$ref === undefined && given.allOf === undefined) return given;
  const { $ref, allOf, ...rest } = given;
  const parts = Array.isArray(allOf) ? [...allOf] : [];
  if (typeof $ref === 'string') {
    allowance.spend($ref.length);
    const target = resolveReference($ref, root);
    if (place.targets.includes(target) || place.targets.length + targets.length > MAX_DEPTH) return undefined;
    if (!targets.includes(target)) parts.push(target);
    targets.push(target);
  }
  let schema: JsonObject = rest;
  for (const part of parts) {
    const flat = flatten(part, place, targets);
    if (flat === undefined) return undefined;
    schema = merged(schema, flat, allowance);
  }
  return schema;
}

/** One schema with the members that both ask for; of other keywords it has those of the second. */
function merged(first: JsonObject, second: JsonObject, allowance: Allowance): JsonObject {
  for (const part of [first, second]) {
    allowance.spend(widthOf(part) + widthOf(part.properties) + widthOf(part.required));
  }
  const properties = { ...objectAt(first, 'properties'), ...objectAt(second, 'properties') };
  const required = [...(stringsAt(first, 'required') ?? []), ...(stringsAt(second, 'required') ?? [])];
  return {
    ...first,
    ...second,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** A value as it is. */
function paid(value: Json, { allowance }: Place): Json {
  allowance.spend(JSON.stringify(value).length);
  return value;
}

/** Keywords that tell the type of a schema without one. */
const IMPLIED_TYPES: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties']],
  ['array', ['items', 'prefixItems', 'minItems']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function typeOf(schema: JsonObject): string {
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  const implied = IMPLIED_TYPES.find(([, keywords]) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  return types.find((type) => type !== 'null') ?? types[0] ?? implied?.[0] ?? 'string';
}

const VALUES: Readonly<Record<string, (schema: JsonObject, place: Place) => Json | undefined>> = {
  null: (_, place) => paid(null, place),
  boolean: (_, place) => paid(place.index % 2 === 0, place),
  integer: (schema, place) => paid(numberOf(schema, place.index, 1), place),
  number: (schema, place) => paid(numberOf(schema, place.index, 0.5), place),
  string: textOf,
  array: listOf,
  object: objectOf,
};

/** A small number if the bounds allow one, else one near a bound or between both. */
function numberOf(schema: JsonObject, index: number, unit: number): number {
  const step = numberAt(schema, 'multipleOf') ?? unit;
  const small = (index + 1) * step;
  const bounds = (...names: string[]) => names.flatMap((name) => numberAt(schema, name) ?? []);
  const least = Math.max(...bounds('minimum', 'exclusiveMinimum'));
  const most = Math.min(...bounds('maximum', 'exclusiveMaximum'));
  const first = Math.ceil(least / step) * step;
  const last = Math.floor(most / step) * step;
  const isInside = (value: number) =>
    Number.isFinite(value) &&
    value >= least &&
    value <= most &&
    value !== schema.exclusiveMinimum &&
    value !== schema.exclusiveMaximum;
  return (
    [small, first + small, first + step, first, last, last - step, (least + most) / 2].find(isInside) ?? 0
  );
}

/** Values of the string formats. */
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2025-01-01T00:00:00Z',
  date: '2025-01-01',
  time: '12:00:00Z',
  duration: 'PT1S',
  email: 'simulated@example.com',
  hostname: 'simulated.example.com',
  uri: 'https://example.com/simulated',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/** Texts for a `pattern`: the first that it matches is taken. */
const SAMPLES = [
  ...['a', 'A', '1', 'ab', 'AB', 'ABC', '12', '123', '1234', '12345', '123456', 'a1', 'A1', 'a-b', 'a_b'],
  ...['1.0', '1.0.0', '#a1b2c3', '+15550100000', '/simulated', '12:00', ...Object.values(FORMATS)],
];

function textOf(schema: JsonObject, place: Place): Json {
  const { allowance, index, name } = place;
  const shown = name.slice(0, MAX_SHOWN_NAME).replace(/[_-]+/g, ' ');
  const least = numberAt(schema, 'minLength') ?? 0;
  const text = `simulated ${shown}${index === 0 ? '' : ` ${index}`}`.slice(0, numberAt(schema, 'maxLength'));
  const formatted = lookUp(FORMATS, textAt(schema, 'format') ?? '');
  const pattern = textAt(schema, 'pattern');
  const isFit = (sample: string) =>
    sample.length >= least && allowance.checking.matches(pattern ?? '', sample) === true;
  const fitting = pattern === undefined ? text : ([text, ...SAMPLES].find(isFit) ?? text);
  const usual = index === 0 ? textAt(schema, 'default') : undefined;
  const written = usual !== undefined && usual.length >= least ? usual : (formatted ?? fitting);
  allowance.spend(Math.max(written.length, least) + 2);
  return written.padEnd(least, '.');
}

function takesOptional({ hasOptional, depth, allowance }: Place): boolean {
  return hasOptional && depth < OPTIONAL_DEPTH && allowance.isAmple;
}

function listOf(schema: JsonObject, place: Place): Json | undefined {
  const heads = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const least = numberAt(schema, 'minItems') ?? 0;
  const wished = Math.max(least, takesOptional(place) ? Math.max(heads.length, 1) : 0);
  const length = Math.min(wished, numberAt(schema, 'maxItems') ?? wished);
  const list: Json[] = [];
  while (list.length < length) {
    place.allowance.spend(1);
    const item = heads[list.length] ?? schema.items ?? { type: 'string' };
    const value = build(item, { ...place, depth: place.depth + 1, index: list.length });
    if (value === undefined) return list.length < least ? undefined : list;
    list.push(value);
  }
  return list;
}

/** Members in the order of the schema, as models write them. */
function objectOf(schema: JsonObject, place: Place): Json | undefined {
  const { allowance } = place;
  const properties = objectAt(schema, 'properties') ?? {};
  allowance.spend(widthOf(properties) + widthOf(schema.required) + 2);
  const required = new Set(stringsAt(schema, 'required'));
  const members = new Map<string, Json>();
  for (const name of new Set([...Object.keys(properties), ...required])) {
    if (!required.has(name) && !takesOptional(place)) continue;
    const member = lookUp(properties, name) ?? schema.additionalProperties ?? { type: 'string' };
    const value = build(member, { ...place, depth: place.depth + 1, name });
    if (value === undefined && required.has(name)) return undefined;
    if (value === undefined) continue;
    allowance.spend(name.length + 4);
    members.set(name, value);
  }
  return Object.fromEntries(members);
}
