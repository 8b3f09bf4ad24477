import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { fitsSchema, memberSchemas } from '../../kit/json-schema/schema-check.ts';
import { resolveReference, widthOf } from '../../kit/json-schema/schema-parts.ts';
import { lookUp } from '../../kit/net/lookup.ts';
import { Allowance } from './allowance.ts';
import { COPY_STEPS, mergeSchemas } from './merge-schemas.ts';
import { patternValue } from './pattern-value.ts';
import { Heights } from './schema-height.ts';

/** Below this depth optional members are left out and the shortest branch of a union is taken: recursion ends. */
const GENEROUS_DEPTH = 4;
/** No value is built deeper than this, whatever the schema asks. */
const GREATEST_DEPTH = 32;
/** Values tried for one schema that says what a value must not be. */
const MOST_CANDIDATES = 64;
/** Members that are left out in turn. */
const MOST_OMISSIONS = 16;
/** Optional members written in one object or list. */
const MOST_OPTIONAL = 256;
/** Names tried in vain for one object that needs more members. */
const MOST_MISSES = 256;
/** Of a member's name, what its text repeats. */
const LONGEST_NAME = 64;

/** Values of the string formats. `index` tells the members of a list apart. */
const FORMATS: Readonly<Record<string, (index: number) => string>> = {
  'date-time': (index) => `2025-01-01T00:00:${String(index % 60).padStart(2, '0')}Z`,
  date: (index) => `2025-01-${String((index % 28) + 1).padStart(2, '0')}`,
  time: (index) => `12:00:${String(index % 60).padStart(2, '0')}Z`,
  duration: (index) => `PT${index + 1}S`,
  email: (index) => `simulated${index}@example.com`,
  'idn-email': (index) => `simulated${index}@example.com`,
  hostname: (index) => `simulated${index}.example.com`,
  uri: (index) => `https://example.com/simulated/${index}`,
  'uri-reference': (index) => `/simulated/${index}`,
  url: (index) => `https://example.com/simulated/${index}`,
  uuid: (index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  ipv4: (index) => `192.0.2.${index % 256}`,
  ipv6: (index) => `2001:db8::${index.toString(16)}`,
};

/** A schema on its way down: the root for references, the depth, and the place in a list. */
interface Place {
  readonly root: JsonObject;
  /** What is left for the whole answer. */
  readonly allowance: Allowance;
  readonly heights: Heights;
  readonly depth: number;
  readonly index: number;
  /** Name of the member, for readable text. */
  readonly name: string;
}

/** A schema with its references followed and its parts laid over each other. */
interface Flat {
  /** Without any keyword that leaves a choice. */
  readonly schema: JsonObject;
  /** Of each of these lists one schema has to be met too. */
  readonly choices: readonly (readonly Json[])[];
}

/**
 * A value that is valid for a JSON Schema, the same every time. What a schema asks for is built; what it forbids (`not`,
 * the other branches of `oneOf`, a condition) is found by trying one value after another, and where none fits the first
 * one is taken. Throws `AllowanceSpent` where a schema asks for more than the allowance lets it have.
 */
export function schemaValue(schema: JsonObject, allowance = new Allowance()): Json {
  return buildValue(schema, {
    root: schema,
    allowance,
    heights: new Heights(schema, allowance),
    depth: 0,
    index: 0,
    name: 'answer',
  });
}

function buildValue(given: Json | undefined, place: Place): Json {
  const { allowance } = place;
  if (!isJsonObject(given)) return paid('simulated', allowance);
  if (place.depth > GREATEST_DEPTH) return paid(null, allowance);
  const flat = flattened(given, place, 0);
  const isBuilt = flat.choices.length === 0 && flat.schema.not === undefined;
  const before = allowance.characters;
  const tried: { value: Json; after: number }[] = [];
  for (const value of candidates(flat, place, 0)) {
    if (isBuilt || fitsSchema(value, given, place.root, allowance.checking)) return value;
    tried.push({ value, after: allowance.characters });
    // Only what is in the answer counts as written.
    allowance.characters = before;
    if (tried.length >= MOST_CANDIDATES || !allowance.isAmple) break;
  }
  allowance.characters = tried[0]?.after ?? before;
  return tried[0]?.value ?? null;
}

/** A value that is written as it is, paid for with all that it holds. */
function paid(value: Json, allowance: Allowance): Json {
  if (Array.isArray(value)) {
    allowance.write(value.length + 2);
    for (const item of value) paid(item, allowance);
  } else if (isJsonObject(value)) {
    payNames(Object.keys(value), allowance);
    for (const member of Object.values(value)) paid(member ?? null, allowance);
  } else {
    allowance.write(String(value).length + 2);
  }
  return value;
}

function payNames(names: Iterable<string>, allowance: Allowance): void {
  allowance.write(2);
  for (const name of names) allowance.write(name.length + 4);
}

/** Whether this is a place for more than what has to be there. */
function isGenerous({ depth, allowance }: Place): boolean {
  return depth < GENEROUS_DEPTH && allowance.isAmple;
}

const ANYTHING: Flat = { schema: {}, choices: [] };

function flattened(given: Json, place: Place, hops: number): Flat {
  const { allowance } = place;
  if (given === false) return { schema: { not: {} }, choices: [] };
  if (!isJsonObject(given) || hops > GREATEST_DEPTH) return ANYTHING;
  allowance.spend((widthOf(given) + widthOf(given.allOf)) * COPY_STEPS);
  const { $ref, allOf, ...rest } = given;
  if (typeof $ref === 'string') allowance.spend($ref.length);
  const parts = [
    ...(typeof $ref === 'string' ? [resolveReference($ref, place.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  return parts
    .map((part) => flattened(part, place, hops + 1))
    .reduceRight((over, under) => laidOver(over, under, allowance), split(rest, allowance));
}

function laidOver(over: Flat, under: Flat, allowance: Allowance): Flat {
  allowance.spend(under.choices.length + over.choices.length);
  return {
    schema: mergeSchemas(under.schema, over.schema, allowance),
    choices: [...under.choices, ...over.choices],
  };
}

/** Takes the keywords that leave a choice out of a schema. */
function split(given: JsonObject, allowance: Allowance): Flat {
  const { anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas, ...schema } = given;
  const choices = [anyOf, oneOf].filter((union) => Array.isArray(union) && union.length > 0) as Json[][];
  if (condition !== undefined) choices.push([{ allOf: [condition, then ?? true] }, otherwise ?? true]);
  allowance.spend(widthOf(dependentSchemas));
  for (const part of isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : []) {
    choices.push([part ?? true, true]);
  }
  return { schema, choices };
}

/** Values for a schema, the likeliest first. */
function* candidates({ schema, choices }: Flat, place: Place, hops: number): Generator<Json, void, void> {
  const { allowance } = place;
  allowance.spend(choices.length + 1);
  const [first, ...rest] = choices;
  if (first !== undefined && hops <= GREATEST_DEPTH) {
    for (const branch of ranked(first, place)) {
      const flat = flattened(branch, place, 0);
      const both = {
        schema: mergeSchemas(schema, flat.schema, allowance),
        choices: [...flat.choices, ...rest],
      };
      yield* candidates(both, place, hops + 1);
    }
    return;
  }
  if (schema.const !== undefined) {
    yield paid(schema.const, allowance);
  } else if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const { enum: values } = schema;
    for (const offset of values.keys()) {
      yield paid(values[(place.index + offset) % values.length] ?? null, allowance);
    }
  } else {
    allowance.spend(widthOf(schema.type));
    for (const type of typesOf(schema, place)) yield* lookUp(VALUES, type)?.(schema, place) ?? [];
  }
}

/** The branches in the order in which they are tried. Deep down the one that ends soonest is the first. */
function ranked(branches: readonly Json[], place: Place): readonly Json[] {
  if (isGenerous(place)) return branches;
  place.allowance.spend(branches.length);
  return branches
    .map((branch) => ({ branch, height: place.heights.of(branch) }))
    .sort((one, other) => compareNumbers(one.height, other.height))
    .map(({ branch }) => branch);
}

/** Endless heights are the same: their difference is no number. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

/** The types that a value may have, the likeliest first. */
function typesOf(schema: JsonObject, place: Place): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (!Array.isArray(type)) return [impliedType(schema), ...TYPES];
  const names = type.filter(isName);
  const first = names.find((name) => name !== 'null' && (isGenerous(place) || name !== 'object'));
  return [first ?? 'null', ...names];
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

const IMPLIED_TYPES: readonly (readonly [string, readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'dependentRequired',
    ],
  ],
  ['array', ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function impliedType(schema: JsonObject): string {
  return (
    IMPLIED_TYPES.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0] ??
    'string'
  );
}

/** Values by type. All but the first are for schemas that forbid something. */
const VALUES: Readonly<Record<string, (schema: JsonObject, place: Place) => Iterable<Json>>> = {
  null: (_schema, { allowance }) => [paid(null, allowance)],
  boolean: (_schema, { index, allowance }) => {
    paid(false, allowance);
    return index % 2 === 0 ? [true, false] : [false, true];
  },
  integer: (schema, place) => numbersOf(schema, place, 1),
  number: (schema, place) => numbersOf(schema, place, undefined),
  string: textsOf,
  array: listsOf,
  object: objectsOf,
};

const OTHER_NUMBERS = [0, -1, 1, 2, 10, 100, 1000, -100];

function* numbersOf(
  schema: JsonObject,
  { index, allowance }: Place,
  unit: 1 | undefined,
): Generator<Json, void, void> {
  for (let offset = 0; offset < OTHER_VALUES; offset++) {
    yield paid(numberOf(schema, index + offset, unit), allowance);
  }
  for (const number of OTHER_NUMBERS) yield paid(number, allowance);
}

/** Values at other places of a list that are tried too. */
const OTHER_VALUES = 6;

/** A small number where the bounds allow one, else one next to a bound. */
function numberOf(schema: JsonObject, index: number, unit: 1 | undefined): number {
  const least = bound(schema.minimum, schema.exclusiveMinimum, Math.max);
  const most = bound(schema.maximum, schema.exclusiveMaximum, Math.min);
  const multiple = numeric(schema.multipleOf);
  const step = multiple === undefined || (unit === 1 && !Number.isInteger(multiple)) ? unit : multiple;
  const natural = step === undefined ? index + 0.5 : (index + 1) * step;
  if (isAbove(natural, least) && isAbove(-natural, negated(most))) return natural;
  if (step === undefined) return between(least, most, index);
  const stepped = (by: number) =>
    least === undefined ? -firstStep(negated(most), step, by) : firstStep(least, step, by);
  // A narrow range may not have room for another value at every place.
  return isAbove(-stepped(index), negated(most)) ? stepped(index) : stepped(0);
}

/** One end of a range. */
interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

function isAbove(value: number, least: Bound | undefined): boolean {
  return least === undefined || value > least.value || (value === least.value && !least.isExclusive);
}

function negated(end: Bound | undefined): Bound | undefined {
  return end === undefined ? undefined : { ...end, value: -end.value };
}

/** The multiple of `step` that is `index` steps above the least one. */
function firstStep(least: Bound | undefined, step: number, index: number): number {
  if (least === undefined) return index * step;
  const first = Math.ceil(least.value / step);
  const isTaken = least.isExclusive && first * step === least.value;
  return (first + index + (isTaken ? 1 : 0)) * step;
}

function between(least: Bound | undefined, most: Bound | undefined, index: number): number {
  if (least === undefined) return (most?.value ?? 0) - index - 1;
  if (most === undefined) return least.value + index + 1;
  // Strictly inside, nearer to the upper end with every step.
  return most.value - (most.value - least.value) / (index + 2);
}

/** The tighter of an inclusive and an exclusive bound. */
function bound(
  inclusive: Json | undefined,
  exclusive: Json | undefined,
  tighter: (a: number, b: number) => number,
): Bound | undefined {
  const closed = numeric(inclusive);
  const open = numeric(exclusive);
  const value = closed === undefined ? open : open === undefined ? closed : tighter(closed, open);
  return value === undefined ? undefined : { value, isExclusive: value === open };
}

function numeric(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

const OTHER_TEXTS = ['a', '', 'A', '1', '-', 'other'];

function* textsOf(schema: JsonObject, place: Place): Generator<Json, void, void> {
  for (let offset = 0; offset < OTHER_VALUES; offset++) {
    yield textOf(schema, { ...place, index: place.index + offset });
  }
  const least = numeric(schema.minLength) ?? 0;
  for (const text of OTHER_TEXTS) yield padded(text, least, place.allowance);
}

function textOf(schema: JsonObject, { index, name, allowance }: Place): string {
  const format = typeof schema.format === 'string' ? lookUp(FORMATS, schema.format) : undefined;
  if (format !== undefined) return padded(format(index), 0, allowance);
  const least = numeric(schema.minLength) ?? 0;
  const most = numeric(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  if (typeof schema.pattern === 'string') {
    // Longer at every place of a list, so that no two are the same.
    const text = patternValue(schema.pattern, { least, most, wished: least + index }, allowance);
    if (text !== undefined) return text;
  }
  const suffix = index === 0 ? '' : String(index);
  const shown = name.slice(0, LONGEST_NAME).replace(/[_-]+/g, ' ');
  const text = `simulated ${shown}${suffix === '' ? '' : ` ${suffix}`}`;
  return text.length > most
    ? padded((suffix + text.replaceAll(' ', '-')).slice(0, most), 0, allowance)
    : padded(text, least, allowance);
}

/** A text made as long as it has to be, paid for. */
function padded(text: string, least: number, allowance: Allowance): string {
  allowance.write(Math.max(text.length, least) + 2);
  return text.padEnd(least, '.');
}

function* listsOf(schema: JsonObject, place: Place): Generator<Json, void, void> {
  const heads = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const isTuple = Array.isArray(schema.items);
  const items = isTuple ? schema.additionalItems : schema.items;
  const least = numeric(schema.minItems) ?? 0;
  const most = numeric(schema.maxItems) ?? Number.POSITIVE_INFINITY;
  const { contains } = schema;
  const wanted = isJsonObject(contains) ? (numeric(schema.minContains) ?? 1) : 0;
  const needed = Math.max(least, wanted > 0 ? heads.length + wanted : 0);
  const wished = Math.min(Math.max(heads.length, items === false ? 0 : 1), MOST_OPTIONAL);
  const restOf = (index: number) =>
    index < heads.length + wanted ? contained(contains, items) : (items ?? { type: 'string' });
  const listOf = (length: number) => {
    const list: Json[] = [];
    place.allowance.write(2);
    for (let index = 0; index < length; index++) {
      place.allowance.write(1);
      list.push(buildValue(heads[index] ?? restOf(index), { ...place, depth: place.depth + 1, index }));
    }
    return list;
  };
  yield listOf(Math.min(isGenerous(place) ? Math.max(wished, needed) : needed, most));
  for (let length = least; length <= Math.min(least + OTHER_VALUES, most); length++) yield listOf(length);
}

/** What a member must be that an array has to contain, and every other member too. */
function contained(contains: Json | undefined, items: Json | undefined): Json {
  return isJsonObject(contains) ? { allOf: [isJsonObject(items) ? items : {}, contains] } : null;
}

function* objectsOf(schema: JsonObject, place: Place): Generator<Json, void, void> {
  const { allowance } = place;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  allowance.spend(widthOf(properties) + widthOf(schema.required));
  const required = new Set(Array.isArray(schema.required) ? schema.required.filter(isName) : []);
  const least = numeric(schema.minProperties) ?? 0;
  const most = numeric(schema.maxProperties) ?? Number.POSITIVE_INFINITY;
  const optional = Object.keys(properties).filter(
    (name) => !required.has(name) && properties[name] !== false,
  );
  const needed = Math.max(least - required.size, 0);
  const generous = isGenerous(place) ? Math.max(MOST_OPTIONAL, needed) : needed;
  const likely = optional.slice(0, Math.max(Math.min(generous, most - required.size), 0));
  const objectOf = (names: readonly string[], index = place.index) => {
    allowance.spend(required.size + names.length);
    const all = withDependents(new Set([...required, ...names]), schema, allowance);
    addExtraNames(all, least, schema, place);
    return membersOf(all, schema, { ...place, index });
  };
  yield objectOf(likely);
  for (const name of likely.slice(0, MOST_OMISSIONS))
    yield objectOf(likely.filter((other) => other !== name));
  yield objectOf([]);
  for (const name of optional.slice(0, MOST_OMISSIONS)) yield objectOf([name]);
  for (let offset = 1; offset < OTHER_VALUES; offset++) yield objectOf(likely, place.index + offset);
}

/** The names with all that must be there beside them. */
function withDependents(
  names: Set<string>,
  { dependentRequired, dependencies }: JsonObject,
  allowance: Allowance,
): Set<string> {
  const tables = [dependentRequired, dependencies].filter(isJsonObject);
  // A set that grows while it is walked is walked to its new end.
  for (const name of names) {
    for (const table of tables) {
      const others = lookUp(table, name);
      allowance.spend(widthOf(others));
      for (const other of Array.isArray(others) ? others.filter(isName) : []) names.add(other);
    }
  }
  return names;
}

/** Adds names until there are enough; they fit `propertyNames` or the first of `patternProperties`. */
function addExtraNames(names: Set<string>, least: number, schema: JsonObject, place: Place): void {
  const { allowance } = place;
  const { propertyNames, patternProperties } = schema;
  allowance.spend(widthOf(patternProperties));
  const [pattern] = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  const nameAt = (index: number): string | undefined => {
    if (isJsonObject(propertyNames)) {
      const name = buildValue({ type: 'string', ...propertyNames }, { ...place, index, name: 'name' });
      return typeof name === 'string' ? name : undefined;
    }
    const isClosed = schema.additionalProperties === false && pattern !== undefined;
    if (!isClosed) return `simulated_${index}`;
    return patternValue(pattern, { least: 0, most: Number.POSITIVE_INFINITY, wished: index }, allowance);
  };
  const before = allowance.characters;
  for (let index = 1, misses = 0; names.size < least && misses < MOST_MISSES; index++) {
    allowance.spend(1);
    const { size } = names;
    const name = nameAt(index);
    if (name !== undefined) names.add(name);
    if (names.size === size) misses++;
  }
  // Names are paid for where they are written.
  allowance.characters = before;
}

/** An object with these members, in the order of the schema, as models write them. */
function membersOf(names: ReadonlySet<string>, schema: JsonObject, place: Place): JsonObject {
  const { allowance } = place;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  allowance.spend(widthOf(properties));
  payNames(names, allowance);
  const ordered = new Set([...Object.keys(properties).filter((name) => names.has(name)), ...names]);
  const open = isJsonObject(schema.additionalProperties) ? schema.additionalProperties : { type: 'string' };
  const inside = { ...place, depth: place.depth + 1 };
  return Object.fromEntries(
    [...ordered].map((name) => {
      const own = memberSchemas(name, schema, allowance);
      const member = own.length > 1 ? { allOf: own } : (own[0] ?? open);
      return [name, buildValue(member, { ...inside, name })];
    }),
  );
}

function isName(value: Json): value is string {
  return typeof value === 'string';
}
