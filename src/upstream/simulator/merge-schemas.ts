import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { isSameJson, widthOf } from '../../kit/json-schema/schema-parts.ts';
import { lookUp } from '../../kit/net/lookup.ts';
import type { Allowance } from './allowance.ts';

/** Steps for a member that is copied. */
export const COPY_STEPS = 2;

/** One schema that asks for what both ask for. Where that cannot be said in one keyword, the second wins. */
export function mergeSchemas(first: JsonObject, second: JsonObject, allowance: Allowance): JsonObject {
  allowance.spend((widthOf(first) + widthOf(second)) * COPY_STEPS);
  const both: JsonObject = { ...first };
  for (const [keyword, value] of Object.entries(second)) {
    if (value === undefined) continue;
    const given = lookUp(first, keyword);
    both[keyword] = given === undefined ? value : merged(keyword, given, value, allowance);
  }
  return both;
}

function merged(keyword: string, first: Json, second: Json, allowance: Allowance): Json {
  allowance.spend((widthOf(first) + widthOf(second)) * COPY_STEPS);
  return lookUp(MERGERS, keyword)?.(first, second, allowance) ?? second;
}

type Merger = (first: Json, second: Json, allowance: Allowance) => Json | undefined;

const greater: Merger = (first, second) => extreme(Math.max, first, second);
const smaller: Merger = (first, second) => extreme(Math.min, first, second);

const MERGERS: Readonly<Record<string, Merger>> = {
  type: commonTypes,
  enum: commonValues,
  properties: memberSchemas,
  patternProperties: memberSchemas,
  additionalProperties: bothSchemas,
  propertyNames: bothSchemas,
  items: bothSchemas,
  contains: bothSchemas,
  dependentRequired: memberLists,
  required: bothLists,
  not: (first, second) => ({ anyOf: [first, second] }),
  minimum: greater,
  exclusiveMinimum: greater,
  minLength: greater,
  minItems: greater,
  minContains: greater,
  minProperties: greater,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxContains: smaller,
  maxProperties: smaller,
  uniqueItems: (first, second) => first === true || second === true,
};

function extreme(of: (...values: number[]) => number, first: Json, second: Json): number | undefined {
  return typeof first === 'number' && typeof second === 'number' ? of(first, second) : undefined;
}

function bothSchemas(first: Json, second: Json): Json {
  return first === false || second === false ? false : { allOf: [first, second] };
}

function memberSchemas(first: Json, second: Json): JsonObject | undefined {
  return byMember(first, second, bothSchemas);
}

function memberLists(first: Json, second: Json, allowance: Allowance): JsonObject | undefined {
  return byMember(first, second, (one, other) => {
    allowance.spend((widthOf(one) + widthOf(other)) * COPY_STEPS);
    return bothLists(one, other);
  });
}

function bothLists(first: Json, second: Json): Json {
  return [...new Set([first, second].flat())];
}

function byMember(
  first: Json,
  second: Json,
  merge: (one: Json, other: Json) => Json,
): JsonObject | undefined {
  if (!isJsonObject(first) || !isJsonObject(second)) return undefined;
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const [one, other] = [lookUp(first, name), lookUp(second, name)];
      return [name, one === undefined ? other : other === undefined ? one : merge(one, other)];
    }),
  );
}

function commonTypes(first: Json, second: Json): Json | undefined {
  const others = new Set([second].flat());
  const common = [...new Set([first].flat())].flatMap((type) => {
    if (others.has(type)) return [type];
    // Every integer is a number.
    if (type === 'number' && others.has('integer')) return ['integer'];
    return type === 'integer' && others.has('number') ? ['integer'] : [];
  });
  return common.length > 1 ? common : common[0];
}

function commonValues(first: Json, second: Json, allowance: Allowance): Json | undefined {
  if (!Array.isArray(first) || !Array.isArray(second)) return undefined;
  const plain = new Set(second);
  const isCommon = (value: Json) => {
    if (typeof value !== 'object' || value === null) return plain.has(value);
    allowance.spend(second.length);
    return second.some((other) => isSameJson(value, other, allowance));
  };
  const common = first.filter(isCommon);
  return common.length > 0 ? common : undefined;
}
