/** The part of JSON Schema that leads from a node to its members. */
export interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

export type Segment = string | number;

/** The steps of a path such as `models[0].headers["a b"]`. */
export function segmentsOf(path: string): Segment[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(
    ([, index, quoted, name]) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? (name ?? '') : (JSON.parse(quoted) as string);
    },
  );
}

/** The schema of the member at a path; undefined if the schema has none. */
export function schemaAt(schema: SchemaNode, segments: readonly Segment[]): SchemaNode | undefined {
  return segments.reduce<SchemaNode | undefined>(
    (node, segment) => node && memberSchema(node, segment),
    schema,
  );
}

/** Names of the members that an object at this node may have; none if it may have any. */
export function memberNames(node: SchemaNode): readonly string[] {
  return branchesOf(node).flatMap(({ properties }) => Object.keys(properties ?? {}));
}

function memberSchema(node: SchemaNode, segment: Segment): SchemaNode | undefined {
  for (const branch of branchesOf(node)) {
    const found =
      typeof segment === 'number'
        ? branch.items
        : (ownMember(branch.properties, segment) ?? Object.values(branch.patternProperties ?? {})[0]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The node itself, or the alternatives of a union. */
export function branchesOf(node: SchemaNode): readonly SchemaNode[] {
  return node.anyOf === undefined ? [node] : node.anyOf.flatMap(branchesOf);
}

function ownMember<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;
}
