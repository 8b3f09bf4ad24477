import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../kit/json/json.ts';

/** A schema as far as defaults need it. */
interface Defaulted {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, object>>;
  readonly items?: object;
  readonly anyOf?: readonly object[];
}

/** A value without the members that have the defaults of their schema. What the schema does not know stays. */
export function withoutDefaults(value: unknown, schema: object | undefined): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = variantWith('items', schema);
    return value.map((item) => withoutDefaults(item, items));
  }
  if (!isJsonObject(value)) return value;
  const { properties = {} } = variantWith('properties', schema);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const known = properties[name];
      const left = withoutDefaults(member, known);
      return known !== undefined && 'default' in known && isDeepStrictEqual(left, known.default)
        ? []
        : [[name, left]];
    }),
  );
}

/** The schema itself, or its only variant of that shape. */
function variantWith(keyword: 'items' | 'properties', schema: Defaulted): Defaulted {
  const variants = schema.anyOf?.filter((each) => keyword in each) ?? [];
  return variants.length === 1 ? (variants[0] as Defaulted) : schema;
}
