import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { type Issue, MISSING_FIELD, memberPath, UNKNOWN_FIELD } from '../json/validate.ts';
import { countText } from '../text/count-text.ts';
import { shortened } from '../text/quoted.ts';
import { StepBudget } from './budget.ts';
import { memberSchemas, unmetKeyword } from './schema-check.ts';
import { resolveReference } from './schema-parts.ts';

/** Nested values and references that are followed to the fault. */
const MAX_DEPTH = 32;

/**
 * What is wrong with a value for a JSON Schema: the innermost value that does not fit, and why. Undefined = it fits;
 * what is beyond `steps` of work counts as fitting.
 */
export function schemaFault(value: Json, schema: JsonObject, steps: number): Issue | undefined {
  const budget = new StepBudget(steps);
  const keyword = unmetKeyword(value, schema, schema, budget);
  if (keyword === undefined) return undefined;
  // The way to the fault repeats a part of the work.
  const found = new FaultSearch(schema, new StepBudget(steps));
  return found.below({ value, schema, path: '' }, keyword, MAX_DEPTH);
}

/** The text of a fault: `items[0].name: is required`. */
export function faultText({ path, message }: Issue): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** The text of a fault of the arguments of a tool's call. */
export function misfitText(fault: Issue): string {
  return `the arguments do not fit the schema of the tool: ${faultText(fault)}`;
}

/** A value inside of the checked one, and the schema that holds for it. */
interface Place {
  readonly value: Json;
  readonly schema: Json;
  readonly path: string;
}

type Objects = Place & { readonly schema: JsonObject };

class FaultSearch {
  readonly #root: JsonObject;
  readonly #budget: StepBudget;

  constructor(root: JsonObject, budget: StepBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  below(place: Objects, keyword: string, depth: number): Issue {
    if (depth > 0) {
      for (const inner of this.#inside(place, keyword)) {
        const { schema } = inner;
        if (!isJsonObject(schema)) {
          if (schema === false) return { path: inner.path, message: UNKNOWN_FIELD };
          continue;
        }
        const unmet = unmetKeyword(inner.value, schema, this.#root, this.#budget);
        if (unmet !== undefined) return this.below({ ...inner, schema }, unmet, depth - 1);
      }
    }
    return reasonOf(place, keyword);
  }

  #inside({ value, schema, path }: Objects, keyword: string): readonly Place[] {
    const wanted = schema[keyword] ?? null;
    const same = (part: Json): Place => ({ value, schema: part, path });
    const members = isJsonObject(value) ? Object.entries(value) : [];
    const elements = Array.isArray(value) ? value : [];
    switch (keyword) {
      case '$ref':
        return typeof wanted === 'string' ? [same(resolveReference(wanted, this.#root))] : [];
      case 'allOf':
        return listOf(wanted).map(same);
      case 'anyOf':
      case 'oneOf': {
        const ofKind = listOf(wanted).filter((part) => this.#isOfKind(value, part));
        return ofKind.length === 1 ? ofKind.map(same) : [];
      }
      case 'properties':
      case 'patternProperties':
        return members.flatMap(([name, member]) =>
          memberSchemas(name, schema, this.#budget).map((part) => ({
            value: member ?? null,
            schema: part,
            path: memberPath(path, name),
          })),
        );
      case 'additionalProperties':
        return members
          .filter(([name]) => memberSchemas(name, schema, this.#budget).length === 0)
          .map(([name, member]) => ({ value: member ?? null, schema: wanted, path: memberPath(path, name) }));
      case 'prefixItems':
      case 'items': {
        const heads = listOf(schema.prefixItems ?? wanted);
        return elements.flatMap((element, index) => {
          const part = heads[index] ?? (Array.isArray(wanted) ? undefined : wanted);
          return part === undefined ? [] : [{ value: element, schema: part, path: `${path}[${index}]` }];
        });
      }
      default:
        return [];
    }
  }

  /** True for a form of a union that takes values of this type at all. */
  #isOfKind(value: Json, part: Json): boolean {
    if (!isJsonObject(part)) return part !== false;
    const { type } = part;
    return type === undefined || unmetKeyword(value, { type }, this.#root, this.#budget) === undefined;
  }
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function reasonOf({ value, schema, path }: Objects, keyword: string): Issue {
  const wanted = schema[keyword] ?? null;
  if (keyword === 'required' && isJsonObject(value)) {
    const missing = listOf(wanted).find((name) => typeof name === 'string' && !Object.hasOwn(value, name));
    if (typeof missing === 'string') return { path: memberPath(path, missing), message: MISSING_FIELD };
  }
  return { path, message: REASONS[keyword]?.(wanted) ?? `does not meet ${shortened(keyword)} of the schema` };
}

const REASONS: Readonly<Record<string, ((wanted: Json) => string) | undefined>> = {
  type: (wanted) => `must be of type ${shortened([wanted].flat().join(' or '))}`,
  const: (wanted) => `must be ${shortened(JSON.stringify(wanted))}`,
  enum: (wanted) =>
    `must be one of ${shortened(
      listOf(wanted)
        .map((value) => JSON.stringify(value))
        .join(', '),
    )}`,
  minimum: (wanted) => `must be >= ${wanted}`,
  maximum: (wanted) => `must be <= ${wanted}`,
  exclusiveMinimum: (wanted) => `must be > ${wanted}`,
  exclusiveMaximum: (wanted) => `must be < ${wanted}`,
  multipleOf: (wanted) => `must be a multiple of ${wanted}`,
  minLength: (wanted) =>
    wanted === 1 ? 'must not be empty' : `must have at least ${counted(wanted, 'character')}`,
  maxLength: (wanted) => `must have at most ${counted(wanted, 'character')}`,
  pattern: (wanted) => `must match ${shortened(String(wanted))}`,
  minItems: (wanted) => `must have at least ${counted(wanted, 'item')}`,
  maxItems: (wanted) => `must have at most ${counted(wanted, 'item')}`,
  uniqueItems: () => 'must not have the same item twice',
  minProperties: (wanted) => `must have at least ${counted(wanted, 'key')}`,
  maxProperties: (wanted) => `must have at most ${counted(wanted, 'key')}`,
  anyOf: () => 'has none of the forms that are allowed',
  oneOf: () => 'has none of the forms that are allowed, or several of them',
  not: () => 'has a form that is not allowed',
};

function counted(wanted: Json, what: string): string {
  return typeof wanted === 'number' ? countText(wanted, what) : what;
}
