import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { lookUp } from '../net/lookup.ts';
import type { Budget } from './budget.ts';
import { isSameJson, resolveReference, widthOf } from './schema-parts.ts';

/** References that lead in a circle end here. */
const GREATEST_DEPTH = 100;

/**
 * Whether a value is valid for a JSON Schema, as far as the budget lets us say it: keywords and formats that we do not
 * know count as met, and so does what there is no time for.
 */
export function fitsSchema(value: Json, schema: Json, root: JsonObject, budget: Budget): boolean {
  return new Check(root, budget).fits(value, schema);
}

class Check {
  readonly root: JsonObject;
  readonly budget: Budget;
  #depth = 0;

  constructor(root: JsonObject, budget: Budget) {
    this.root = root;
    this.budget = budget;
  }

  fits(value: Json, schema: Json): boolean {
    if (!isJsonObject(schema)) return schema !== false;
    if (this.#depth > GREATEST_DEPTH || this.isSpent) return true;
    if (!this.affords(sizeOf(schema) + widthOf(value))) return true;
    this.#depth++;
    const isMet = Object.entries(schema).every(([keyword, wanted]) => {
      if (wanted === undefined) return true;
      return lookUp(KEYWORDS, keyword)?.({ value, wanted, schema, check: this }) ?? true;
    });
    this.#depth--;
    return isMet;
  }

  get isSpent(): boolean {
    return this.budget.steps < 0;
  }

  /** Pays for some steps, and says whether there were enough. */
  affords(steps: number): boolean {
    this.budget.steps -= steps;
    return !this.isSpent;
  }
}

/** How much there is to look at in a schema itself. */
function sizeOf(schema: JsonObject): number {
  return Object.values(schema).reduce<number>((sum, part) => sum + widthOf(part), 1);
}

/** One keyword of a schema, asked of one value. */
interface Question {
  readonly value: Json;
  /** What the keyword says. */
  readonly wanted: Json;
  /** The schema that the keyword stands in. */
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

  minLength: atText((value, wanted) => Array.from(value).length >= Number(wanted)),
  maxLength: atText((value, wanted) => Array.from(value).length <= Number(wanted)),
  pattern: atText((value, wanted, { budget }) => budget.matches(String(wanted), value) ?? true),

  minItems: atList((value, { wanted }) => value.length >= Number(wanted)),
  maxItems: atList((value, { wanted }) => value.length <= Number(wanted)),
  uniqueItems: atList((value, { wanted, check }) => wanted !== true || areUnique(value, check)),
  prefixItems: atList((value, { wanted, check }) => headsFit(value, wanted, check)),
  items: atList((value, { wanted, schema, check }) =>
    Array.isArray(wanted)
      ? headsFit(value, wanted, check)
      : value.slice(listOf(schema.prefixItems).length).every((item) => check.fits(item, wanted)),
  ),
  contains: atList((value, { wanted, schema, check }) => {
    const count = value.filter((item) => check.fits(item, wanted)).length;
    return count >= Number(schema.minContains ?? 1) && count <= Number(schema.maxContains ?? count);
  }),

  required: atObject((value, { wanted }) => listOf(wanted).every((name) => has(value, name))),
  minProperties: atObject((value, { wanted }) => Object.keys(value).length >= Number(wanted)),
  maxProperties: atObject((value, { wanted }) => Object.keys(value).length <= Number(wanted)),
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
  dependentRequired: atObject((value, { wanted, check }) => dependentsAreThere(value, wanted, check)),
  dependentSchemas: atObject((value, { wanted, check }) =>
    membersOf(wanted).every(([name, part]) => !has(value, name) || check.fits(value, part)),
  ),
  dependencies: atObject(
    (value, { wanted, check }) =>
      dependentsAreThere(value, wanted, check) &&
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

/** The schemas that an object's schema has for one member by its name; none leaves it to `additionalProperties`. */
export function memberSchemas(name: string, schema: JsonObject, budget: Budget): Json[] {
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

function atText(isMet: (value: string, wanted: Json, check: Check) => boolean): Keyword {
  return ({ value, wanted, check }) =>
    typeof value !== 'string' || !check.affords(value.length) || isMet(value, wanted, check);
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

/** Plain values are told apart at once; lists and objects are compared with each other. */
function areUnique(value: readonly Json[], check: Check): boolean {
  if (new Set(value).size < value.length) return false;
  const nested = value.filter((item) => typeof item === 'object' && item !== null);
  if (!check.affords(nested.length ** 2)) return true;
  const isRepeated = (item: Json, index: number) =>
    nested.slice(0, index).some((other) => isSameJson(item, other, check.budget));
  return !nested.some(isRepeated) || check.isSpent;
}

function dependentsAreThere(value: JsonObject, wanted: Json, check: Check): boolean {
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
