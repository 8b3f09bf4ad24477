import { isJsonObject } from '../../kit/json/json.ts';

/** The part of JSON Schema that matters for defaults. */
interface SchemaNode {
  readonly default?: unknown;
  readonly type?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** Returns a copy with defaults filled in, or the value itself if there is nothing to fill in. */
export type DefaultFiller = (value: unknown) => unknown;

/**
 * Compiles the filler of a schema. Invalid values are left for the validator. Null counts as absent unless the schema
 * allows null: a section whose lines are all commented out parses as null.
 */
export function compileDefaults(schema: object): DefaultFiller {
  return fillerOf(schema as SchemaNode);
}

function fillerOf(schema: SchemaNode): DefaultFiller {
  const nullIsAbsent = !takesNull(schema);
  // In our unions at most one branch is an object and one a list; only those can hold defaults.
  const fillObject = objectFiller(schema.anyOf?.find(({ type }) => type === 'object') ?? schema);
  const fillArray = arrayFiller(schema.anyOf?.find(({ type }) => type === 'array') ?? schema);
  return (value) => {
    const given = value === undefined || (value === null && nullIsAbsent) ? schema.default : value;
    if (given === undefined) return value;
    if (Array.isArray(given)) return fillArray(given);
    return isJsonObject(given) ? fillObject(given) : given;
  };
}

function arrayFiller({ items }: SchemaNode): (value: readonly unknown[]) => unknown {
  if (items === undefined) return (value) => value;
  const fill = fillerOf(items);
  return (value) => value.map(fill);
}

function objectFiller(schema: SchemaNode): (value: Readonly<Record<string, unknown>>) => unknown {
  const named = new Map(
    Object.entries(schema.properties ?? {}).map(([name, node]) => [name, fillerOf(node)]),
  );
  const openNode = Object.values(schema.patternProperties ?? {})[0];
  const open = openNode === undefined ? undefined : fillerOf(openNode);
  const present = [...named].filter(([, fill]) => fill(undefined) !== undefined);
  return (value) => {
    const changed: [string, unknown][] = [];
    for (const name of Object.keys(value)) {
      const member = value[name];
      const filled = (named.get(name) ?? open)?.(member) ?? member;
      if (filled !== member) changed.push([name, filled]);
    }
    for (const [name, fill] of present) {
      if (!Object.hasOwn(value, name)) changed.push([name, fill(undefined)]);
    }
    return changed.length === 0 ? value : withMembers(value, changed);
  };
}

/** A copy with members replaced or added; safe for a member named `__proto__`. */
function withMembers(value: object, members: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries([...Object.entries(value), ...members]);
}

function takesNull(schema: SchemaNode): boolean {
  return schema.type === 'null' || (schema.anyOf ?? []).some(takesNull);
}
