import { configSchema } from '../../../../src/config/schema/schema.ts';
import type { Unit } from '../../../../src/config/schema/units.ts';

/** A node of the schema, as far as the page of keys shows it. */
export interface KeyNode {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly KeyNode[];
  readonly properties?: Readonly<Record<string, KeyNode>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly patternProperties?: Readonly<Record<string, KeyNode>> | undefined;
  readonly items?: KeyNode;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly unit?: Unit;
  readonly hasPrices?: true;
}

/** A key of the configuration file. */
export interface ConfigKey {
  /** `[]` is any item of a list, `*` any name. */
  readonly path: string;
  readonly node: KeyNode;
  readonly isRequired: boolean;
}

/** All keys of the configuration file, in the order of the schema. */
export function configKeys(): ConfigKey[] {
  return [...keysIn(configSchema as KeyNode, '')];
}

function* keysIn(node: KeyNode, path: string): Generator<ConfigKey> {
  for (const branch of branchesOf(node)) {
    for (const [name, member] of Object.entries(branch.properties ?? {})) {
      const at = path === '' ? name : `${path}.${name}`;
      const isRequired = (branch.required ?? []).includes(name) && member.default === undefined;
      yield { path: at, node: member, isRequired };
      yield* keysIn(member, at);
    }
    const [open] = Object.values(branch.patternProperties ?? {});
    if (open !== undefined && open.type !== undefined) {
      yield { path: `${path}.*`, node: open, isRequired: false };
      // What a preset may set is a request's, which other pages describe.
      if (open.patternProperties === undefined) yield* keysIn(open, `${path}.*`);
    }
    if (branch.items !== undefined) yield* keysIn(branch.items, `${path}[]`);
  }
}

/** The node itself, or the alternatives of a union without null. */
export function branchesOf(node: KeyNode): readonly KeyNode[] {
  if (node.anyOf === undefined) return [node];
  return node.anyOf.flatMap(branchesOf).filter(({ type }) => type !== 'null');
}
