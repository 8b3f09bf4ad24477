import { lookUp } from '../collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { StepBudget } from './budget.ts';
import { isSameJson, resolveReference, widthOf } from './schema-parts.ts';

/** Nested schemas that are checked, references followed: ends circles of references. */
const MAX_DEPTH = 100;

/**
 * Whether a value is valid for a JSON Schema. Unknown keywords and formats count as met, and so does everything after
 * the budget is spent.
 */
export function fitsSchema(value: Json, schema: Json, root: JsonObject, budget: StepBudget): boolean {
  return new Check(root, budget).fits(value, schema);
}

/** The first keyword of a schema that a value does not meet; undefined = the value fits, by the rules above. */
export function unmetKeyword(
  value: Json,
  schema: JsonObject,
  root: JsonObject,
  budget: StepBudget,
): string | undefined {
  return new Check(root, budget).unmet(value, schema);
}

class Check {
  readonly root: JsonObject;
  readonly budget: StepBudget;
  #depth = 0;

  constructor(root: JsonObject, budget: StepBudget) {
    this.root = root;
    this.budget = budget;
  }

  fits(value: Json, schema: Json): boolean {
    return isJsonObject(schema) ? this.unmet(value, schema) === undefined : schema !== false;
  }

  unmet(value: Json, schema: JsonObject): string | undefined {
    if (this.#depth > MAX_DEPTH || this.isSpent) return undefined;
    if (!this.affords(sizeOf(schema) + widthOf(value))) return undefined;
    this.#depth++;
    const unmet = Object.entries(schema).find(
      ([keyword, wanted]) =>
        wanted !== undefined && lookUp(KEYWORDS, keyword)?.({ value, wanted, schema, check: this }) === false,
    );
    this.#depth--;
    return unmet?.[0];
  }

  get isSpent(): boolean {
    return this.budget.steps < 0;
  }

  /** Takes steps from the budget; false if it had too few. */
  affords(steps: number): boolean {
    this.budget.steps -= steps;
    return !this.isSpent;
  }
}

/** Steps for reading a schema and the members of its keywords. */
function sizeOf(schema: JsonObject): number {
  return Object.values(schema).reduce<number>((sum, part) => sum + widthOf(part), 1);
}

/** One keyword of a schema, to be checked against one value. */
interface Question {
  readonly value: Json;
  /** Value of the keyword. */
  readonly wanted: Json;
  readonly schema: JsonObject;
  readonly check: Check;
}

type Keyword = (question: Question) => boolean;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  $ref: ({ value, wanted, check }) =>
    typeof wanted !== 'string' ||
    !check.affords(wanted.length) ||
    check.fits(value, resolveReference(wanted, check.root)),
  const: ({ value, wanted, check }) => isSameJson(value, wanted, check.budget),
  enum: ({ value, wanted, check }) =>
    listOf(wanted).some((allowed) => isSameJson(value, allowed, check.budget)),
  type: ({ value, wanted }) =>
    [wanted].flat().some((name) => typeof name === 'string' && lookUp(TYPES, name)?.(value) === true),

  allOf: ({ value, wanted, check }) => listOf(wanted).every((part) => check.fits(value, part)),
  anyOf: ({ value, wanted, check }) => listOf(wanted).some((part) => check.fits(value, part)),
  oneOf: ({ value, wanted, check }) => listOf(wanted).filter((part) => check.fits(value, part)).length === 1,
  not: ({ value, wanted, check }) => !check.fits(value, wanted),
  if: ({ value, wanted, schema, check }) =>
    check.fits(value, (check.fits(value, wanted) ? schema.then : schema.else) ?? true),

  minimum: atNumber((value, wanted) => value >= wanted),
  maximum: atNumber((value, wanted) => value <= wanted),
  exclusiveMinimum: atNumber((value, wanted) => value > wanted),
  exclusiveMaximum: atNumber((value, wanted) => value < wanted),
  multipleOf: atNumber((value, wanted) => Math.abs(value / wanted - Math.round(value / wanted)) < 1e-9),

  minLength: atText((value, { wanted }) => isAtLeast(Array.from(value).length, wanted)),
  maxLength: atText((value, { wanted }) => isAtMost(Array.from(value).length, wanted)),
  pattern: atText(
    (value, { wanted, check }) => typeof wanted !== 'string' || (check.budget.matches(wanted, value) ?? true),
  ),

  minItems: atList((value, { wanted }) => isAtLeast(value.length, wanted)),
  maxItems: atList((value, { wanted }) => isAtMost(value.length, wanted)),
  uniqueItems: atList((value, { wanted, check }) => wanted !== true || areUnique(value, check)),
  prefixItems: atList((value, { wanted, check }) => headsFit(value, wanted, check)),
  items: atList((value, { wanted, schema, check }) =>
    Array.isArray(wanted)
      ? headsFit(value, wanted, check)
      : value.slice(listOf(schema.prefixItems).length).every((item) => check.fits(item, wanted)),
  ),
  contains: atList((value, { wanted, schema, check }) => {
    const count = value.filter((item) => check.fits(item, wanted)).length;
    return isAtLeast(count, schema.minContains ?? 1) && isAtMost(count, schema.maxContains ?? count);
  }),

  required: atObject((value, { wanted }) => listOf(wanted).every((name) => has(value, name))),
  minProperties: atObject((value, { wanted }) => isAtLeast(Object.keys(value).length, wanted)),
  maxProperties: atObject((value, { wanted }) => isAtMost(Object.keys(value).length, wanted)),
  propertyNames: atObject((value, { wanted, check }) =>
    Object.keys(value).every((name) => check.fits(name, wanted)),
  ),
  properties: atObject((value, { wanted, check }) =>
    membersOf(wanted).every(([name, part]) => !has(value, name) || check.fits(value[name] ?? null, part)),
  ),
  patternProperties: atObject((value, { wanted, check }) =>
    membersOf(wanted).every(
      ([pattern, part]) =>
        !check.affords(widthOf(value)) ||
        Object.entries(value).every(
          ([name, member]) =>
            check.budget.matches(pattern, name) !== true || check.fits(member ?? null, part),
        ),
    ),
  ),
  additionalProperties: atObject((value, { wanted, schema, check }) =>
    Object.entries(value).every(
      ([name, member]) =>
        memberSchemas(name, schema, check.budget).length > 0 || check.fits(member ?? null, wanted),
    ),
  ),
  dependentRequired: atObject((value, { wanted, check }) => hasDependents(value, wanted, check)),
  dependentSchemas: atObject((value, { wanted, check }) =>
    membersOf(wanted).every(([name, part]) => !has(value, name) || check.fits(value, part)),
  ),
  dependencies: atObject(
    (value, { wanted, check }) =>
      hasDependents(value, wanted, check) &&
      membersOf(wanted).every(
        ([name, part]) => Array.isArray(part) || !has(value, name) || check.fits(value, part),
      ),
  ),
};

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  array: (value) => Array.isArray(value),
  object: (value) => isJsonObject(value),
};

/** Schemas of `properties` and `patternProperties` for a name. If there are none, `additionalProperties` applies. */
export function memberSchemas(name: string, schema: JsonObject, budget: StepBudget): Json[] {
  const own = isJsonObject(schema.properties) ? lookUp(schema.properties, name) : undefined;
  const patterns = budget.steps > 0 ? membersOf(schema.patternProperties) : [];
  budget.steps -= patterns.length;
  const matching = patterns
    .filter(([pattern]) => budget.matches(pattern, name) === true)
    .map(([, part]) => part);
  return own === undefined ? matching : [own, ...matching];
}

function atNumber(isMet: (value: number, wanted: number) => boolean): Keyword {
  return ({ value, wanted }) =>
    typeof value !== 'number' || typeof wanted !== 'number' || isMet(value, wanted);
}

/** True also for a bound that is not a number: malformed keywords count as met. */
function isAtLeast(count: number, bound: Json): boolean {
  return typeof bound !== 'number' || count >= bound;
}

function isAtMost(count: number, bound: Json): boolean {
  return typeof bound !== 'number' || count <= bound;
}

function atText(isMet: (value: string, question: Question) => boolean): Keyword {
  return (question) => {
    const { value, check } = question;
    return typeof value !== 'string' || !check.affords(value.length) || isMet(value, question);
  };
}

function atList(isMet: (value: readonly Json[], question: Question) => boolean): Keyword {
  return (question) => !Array.isArray(question.value) || isMet(question.value, question);
}

function atObject(isMet: (value: JsonObject, question: Question) => boolean): Keyword {
  return (question) => !isJsonObject(question.value) || isMet(question.value, question);
}

function headsFit(value: readonly Json[], heads: Json, check: Check): boolean {
  return listOf(heads).every(
    (head, index) => index >= value.length || check.fits(value[index] ?? null, head),
  );
}

/** Compares plain values with a set, lists and objects pair by pair. */
function areUnique(value: readonly Json[], check: Check): boolean {
  if (new Set(value).size < value.length) return false;
  const nested = value.filter((item) => typeof item === 'object' && item !== null);
  if (!check.affords(nested.length ** 2)) return true;
  const isRepeated = (item: Json, index: number) =>
    nested.slice(0, index).some((other) => isSameJson(item, other, check.budget));
  return !nested.some(isRepeated) || check.isSpent;
}

function hasDependents(value: JsonObject, wanted: Json, check: Check): boolean {
  return membersOf(wanted).every(
    ([name, others]) =>
      !has(value, name) ||
      !check.affords(widthOf(others)) ||
      listOf(others).every((other) => has(value, other)),
  );
}

function has(value: JsonObject, name: Json): boolean {
  return typeof name === 'string' && Object.hasOwn(value, name);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function membersOf(value: Json | undefined): [string, Json][] {
  return isJsonObject(value)
    ? Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined)
    : [];
}
