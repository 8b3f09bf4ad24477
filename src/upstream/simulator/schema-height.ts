import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { resolveReference } from '../../kit/json-schema/schema-parts.ts';
import type { Allowance } from './allowance.ts';

/** What leads further than this is taken for endless. */
const GREATEST_DEPTH = 64;

/** How many levels of lists and objects the values of schemas have at least. Endless for what has to hold itself. */
export class Heights {
  readonly #root: JsonObject;
  readonly #allowance: Allowance;
  readonly #known = new Map<JsonObject, number>();

  constructor(root: JsonObject, allowance: Allowance) {
    this.#root = root;
    this.#allowance = allowance;
  }

  of(schema: Json | undefined, depth = 0): number {
    if (!isJsonObject(schema)) return 0;
    if (depth > GREATEST_DEPTH) return Number.POSITIVE_INFINITY;
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    // Found again while it is being measured: the schema contains itself.
    this.#known.set(schema, Number.POSITIVE_INFINITY);
    const height = this.#measured(schema, depth + 1);
    this.#known.set(schema, height);
    return height;
  }

  #measured(schema: JsonObject, depth: number): number {
    const { $ref, allOf, anyOf, oneOf, type } = schema;
    let height = type === 'object' || type === 'array' ? 1 : 0;
    const include = (parts: readonly Json[], add: number) => {
      for (const part of parts) height = Math.max(height, this.of(part, depth) + add);
    };
    if (typeof $ref === 'string') {
      this.#allowance.spend($ref.length);
      include([resolveReference($ref, this.#root)], 0);
    }
    if (Array.isArray(allOf)) include(this.#paid(allOf), 0);
    for (const union of [anyOf, oneOf]) {
      if (Array.isArray(union) && union.length > 0) height = Math.max(height, this.#lowest(union, depth));
    }
    include(this.#requiredMembers(schema), 1);
    if (Number(schema.minItems ?? 0) > 0 && isJsonObject(schema.items)) include([schema.items], 1);
    return height;
  }

  #lowest(branches: readonly Json[], depth: number): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const branch of this.#paid(branches)) lowest = Math.min(lowest, this.of(branch, depth));
    return lowest;
  }

  #requiredMembers({ properties, required }: JsonObject): Json[] {
    if (!isJsonObject(properties) || !Array.isArray(required)) return [];
    return this.#paid(required).flatMap((name) => {
      const isOwn = typeof name === 'string' && Object.hasOwn(properties, name);
      return isOwn ? [properties[name] ?? {}] : [];
    });
  }

  #paid(list: readonly Json[]): readonly Json[] {
    this.#allowance.spend(list.length);
    return list;
  }
}
