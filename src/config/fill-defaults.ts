import { isJsonObject } from '../kit/json.ts';

/** The part of JSON Schema that tells where defaults go. */
interface SchemaNode {
  readonly default?: unknown;
  readonly type?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/**
 * The value with the defaults of the schema filled in; what is wrong with it stays as it is, for the validator to see.
 * Null counts as absent where the schema does not know null: a section whose lines are all commented out reads as null.
 */
export function fillDefaults(schema: object, value: unknown): unknown {
  return fill(schema as SchemaNode, value);
}

function fill(schema: SchemaNode, value: unknown): unknown {
  const given = value === undefined || (value === null && !takesNull(schema)) ? schema.default : value;
  if (given === undefined) return value;
  // Of our unions only one branch is an object or a list; it is the one that can hold defaults.
  const node = schema.anyOf?.find(({ type }) => type === kindOf(given)) ?? schema;
  if (Array.isArray(given)) {
    const { items } = node;
    return items === undefined ? given : given.map((item) => fill(items, item));
  }
  return isJsonObject(given) ? fillObject(node, given) : given;
}

function fillObject(schema: SchemaNode, value: Record<string, unknown>): Record<string, unknown> {
  const properties = schema.properties ?? {};
  const open = Object.values(schema.patternProperties ?? {})[0];
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const node = Object.hasOwn(properties, name) ? properties[name] : open;
    return [name, node === undefined ? member : fill(node, member)];
  });
  for (const [name, node] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) continue;
    const filled = fill(node, undefined);
    if (filled !== undefined) members.push([name, filled]);
  }
  return Object.fromEntries(members);
}

function takesNull(schema: SchemaNode): boolean {
  return schema.type === 'null' || (schema.anyOf ?? []).some(takesNull);
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}
