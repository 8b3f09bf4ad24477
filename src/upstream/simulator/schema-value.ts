import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { lookUp } from '../../kit/lookup.ts';
import { patternValue } from './pattern-value.ts';

/** Below this depth optional members are left out and the shortest branch of a union is taken: recursion ends. */
const GENEROUS_DEPTH = 4;
/** No value is built deeper than this, whatever the schema asks. */
const GREATEST_DEPTH = 32;
/** Nobody needs longer values from a simulator. */
const LONGEST_TEXT = 4096;
const LONGEST_LIST = 256;
/** Schemas looked at for one value: references that branch would otherwise double the work at every level. */
const MOST_STEPS = 20_000;

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
  /** Steps that are left for the whole value. */
  readonly budget: { steps: number };
  readonly depth: number;
  readonly index: number;
  /** Name of the member, for readable text. */
  readonly name: string;
}

/**
 * A value that is valid for a JSON Schema, the same every time. Knows what structured outputs and tool parameters
 * use: type, enum, const, anyOf, oneOf, allOf, $ref, properties, required, items, prefixItems, lengths, ranges,
 * multipleOf, formats, patterns, contains. Other keywords (`not`, `if`) are not looked at.
 */
export function schemaValue(schema: JsonObject): Json {
  return buildValue(schema, {
    root: schema,
    budget: { steps: MOST_STEPS },
    depth: 0,
    index: 0,
    name: 'answer',
  });
}

function buildValue(given: Json | undefined, place: Place): Json {
  if (!isJsonObject(given)) return 'simulated';
  if (place.depth > GREATEST_DEPTH || place.budget.steps <= 0) return null;
  const schema = flattened(given, place, 0);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return schema.enum[place.index % schema.enum.length] ?? null;
  }
  const branches = unionOf(schema);
  if (branches !== undefined) return buildValue(chosen(schema, branches, place), place);
  return lookUp(VALUES, typeOf(schema, place))?.(schema, place) ?? null;
}

/** The schema with its references followed and its `allOf` parts laid over each other. */
function flattened(schema: JsonObject, place: Place, hops: number): JsonObject {
  if (hops > GREATEST_DEPTH || place.budget.steps-- <= 0) return {};
  let flat = schema;
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema;
    flat = merged(flattened(resolved(schema.$ref, place.root), place, hops + 1), rest);
  }
  if (!Array.isArray(flat.allOf)) return flat;
  const { allOf, ...rest } = flat;
  const parts = (flat.allOf as Json[]).filter(isJsonObject);
  return parts.map((part) => flattened(part, place, hops + 1)).reduce(merged, rest);
}

function resolved(reference: string, root: JsonObject): JsonObject {
  let node: Json | undefined = root;
  for (const step of reference.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    node = isJsonObject(node) ? lookUp(node, key) : Array.isArray(node) ? node[Number(key)] : undefined;
  }
  return isJsonObject(node) ? node : {};
}

/** A step of a reference; one that is not well encoded stands for itself. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function merged(first: JsonObject, second: JsonObject): JsonObject {
  const both: JsonObject = { ...first, ...second };
  if (isJsonObject(first.properties) && isJsonObject(second.properties)) {
    both.properties = { ...first.properties, ...second.properties };
  }
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    both.required = [...first.required, ...second.required];
  }
  return both;
}

function unionOf(schema: JsonObject): JsonObject[] | undefined {
  const union = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  return Array.isArray(union) && union.length > 0
    ? union.map((part) => (isJsonObject(part) ? part : {}))
    : undefined;
}

/** The branch to take, with what stands beside the union laid under it. Deep down the one that ends soonest. */
function chosen(schema: JsonObject, branches: readonly JsonObject[], place: Place): JsonObject {
  const { anyOf, oneOf, ...beside } = schema;
  const ranked =
    place.depth < GENEROUS_DEPTH ? branches : [...branches].sort((a, b) => weight(a) - weight(b));
  return merged(beside, ranked[0] ?? {});
}

/** How far a branch may still lead. */
function weight(schema: JsonObject): number {
  if (schema.$ref !== undefined) return 4;
  if (schema.type === 'object' || schema.properties !== undefined) return 3;
  if (schema.type === 'array' || unionOf(schema) !== undefined) return 2;
  return schema.type === 'null' ? 0 : 1;
}

function typeOf(schema: JsonObject, place: Place): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const first = type.find((name) => name !== 'null' && (place.depth < GENEROUS_DEPTH || name !== 'object'));
    return typeof first === 'string' ? first : 'null';
  }
  return impliedType(schema);
}

const IMPLIED_TYPES: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function impliedType(schema: JsonObject): string {
  return (
    IMPLIED_TYPES.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined))?.[0] ??
    'string'
  );
}

const VALUES: Readonly<Record<string, (schema: JsonObject, place: Place) => Json>> = {
  null: () => null,
  boolean: (_schema, { index }) => index % 2 === 0,
  integer: (schema, { index }) => numberOf(schema, index, 1),
  number: (schema, { index }) => numberOf(schema, index, undefined),
  string: textOf,
  array: listOf,
  object: objectOf,
};

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

function textOf(schema: JsonObject, { index, name }: Place): string {
  const format = typeof schema.format === 'string' ? lookUp(FORMATS, schema.format) : undefined;
  if (format !== undefined) return format(index);
  const least = Math.min(numeric(schema.minLength) ?? 0, LONGEST_TEXT);
  const most = Math.min(numeric(schema.maxLength) ?? LONGEST_TEXT, LONGEST_TEXT);
  const patterned = typeof schema.pattern === 'string' ? patternValue(schema.pattern, least) : undefined;
  if (patterned !== undefined) return patterned;
  const suffix = index === 0 ? '' : String(index);
  const text = `simulated ${name.replace(/[_-]+/g, ' ')}${suffix === '' ? '' : ` ${suffix}`}`;
  if (text.length > most) return (suffix + text.replaceAll(' ', '-')).slice(0, most);
  return text.padEnd(least, '.');
}

function listOf(schema: JsonObject, place: Place): Json[] {
  const heads = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const least = Math.min(numeric(schema.minItems) ?? 0, LONGEST_LIST);
  const most = Math.min(numeric(schema.maxItems) ?? LONGEST_LIST, LONGEST_LIST);
  const { contains } = schema;
  const wanted = isJsonObject(contains) ? (numeric(schema.minContains) ?? 1) : 0;
  const wished = place.depth < GENEROUS_DEPTH ? Math.max(heads.length, schema.items === false ? 0 : 1) : 0;
  const length = Math.min(Math.max(wished, least, heads.length + wanted), most);
  const restOf = (index: number) =>
    index < heads.length + wanted ? contained(contains, schema.items) : (schema.items ?? { type: 'string' });
  return Array.from({ length }, (_, index) =>
    buildValue(heads[index] ?? restOf(index), {
      ...place,
      depth: place.depth + 1,
      index,
    }),
  );
}

/** What a member must be that an array has to contain, and every other member too. */
function contained(contains: Json | undefined, items: Json | undefined): Json {
  return isJsonObject(contains) ? merged(isJsonObject(items) ? items : {}, contains) : null;
}

function objectOf(schema: JsonObject, place: Place): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required.filter(isName) : []);
  const least = numeric(schema.minProperties) ?? 0;
  const most = numeric(schema.maxProperties) ?? Number.POSITIVE_INFINITY;
  const optional = Object.keys(properties).filter((name) => !required.has(name));
  const generous = place.depth < GENEROUS_DEPTH ? optional.length : Math.max(least - required.size, 0);
  const names = new Set([
    ...required,
    ...optional.slice(0, Math.max(Math.min(generous, most - required.size), 0)),
  ]);
  const open = isJsonObject(schema.additionalProperties) ? schema.additionalProperties : { type: 'string' };
  for (let extra = 1; names.size < Math.min(least, LONGEST_LIST); extra++) names.add(`simulated_${extra}`);
  // Members in the order of the schema, as models write them.
  const ordered = [...Object.keys(properties).filter((name) => names.has(name)), ...names];
  const inside = { ...place, depth: place.depth + 1 };
  return Object.fromEntries(
    [...new Set(ordered)].map((name) => [
      name,
      buildValue(lookUp(properties, name) ?? open, { ...inside, name }),
    ]),
  );
}

function isName(value: Json): value is string {
  return typeof value === 'string';
}
