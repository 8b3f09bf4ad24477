import type { TSchema } from 'typebox';
import { lookUp } from '../collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { flatten, namedBranches, type SchemaNode } from './validate.ts';

/** A member that the schema of its object does not list. */
export interface UnlistedMember {
  /** Its place in the body: `tools[0].function.strickt`. */
  readonly path: string;
  readonly name: string;
  readonly value: Json;
}

/**
 * The members of a valid value that its schema does not list, at most so many. Objects of which the schema lists
 * nothing may have any member, and open ones are not looked into. Null means absent.
 */
export function unlistedMembers(schema: TSchema, value: JsonObject, most: number): readonly UnlistedMember[] {
  const found: UnlistedMember[] = [];
  visit([schema as SchemaNode], value, '', found, most);
  return found;
}

/** Visits a value that one of the schemas describes, or several of them together. */
function visit(
  schemas: readonly SchemaNode[],
  value: Json | undefined,
  path: string,
  found: UnlistedMember[],
  most: number,
): void {
  if (Array.isArray(value)) {
    const items = schemas.flatMap(flatten).flatMap((node) => node.items ?? []);
    if (items.length === 0) return;
    for (let index = 0; index < value.length && found.length < most; index++) {
      visit(items, value[index], `${path}[${index}]`, found, most);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  const nodes = schemas.flatMap((schema) => objectNodes(schema, value));
  if (nodes.length === 0 || nodes.some(({ open }) => open === true)) return;
  const takesAny = nodes.some(takesAnyMember);
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= most) return;
    if (member === null || member === undefined) continue;
    const place = path === '' ? name : `${path}.${name}`;
    const listed = nodes.flatMap((node) => schemaOfMember(node, name));
    if (listed.length > 0) visit(listed, member, place, found, most);
    else if (!takesAny) found.push({ path: place, name, value: member });
  }
}

/** The objects of a schema that this value may be. */
function objectNodes(schema: SchemaNode, value: JsonObject): readonly SchemaNode[] {
  const { anyOf, allOf, discriminator } = schema;
  if (anyOf !== undefined) {
    if (discriminator === undefined) return anyOf.flatMap((branch) => objectNodes(branch, value));
    return branchesOf(schema, discriminator.propertyName, value);
  }
  if (allOf !== undefined) return allOf.flatMap((part) => objectNodes(part, value));
  return schema.type === 'object' ? [schema] : [];
}

/** Branches of tagged unions by their literal tags: bodies have thousands of parts of a few kinds. */
const branchesByTag = new WeakMap<SchemaNode, Map<Json | undefined, readonly SchemaNode[]>>();

function branchesOf(union: SchemaNode, tag: string, value: JsonObject): readonly SchemaNode[] {
  const given = value[tag];
  const known = branchesByTag.get(union)?.get(given);
  if (known !== undefined) return known;
  const named = namedBranches(tag, flatten(union), given);
  if (named.some(({ properties }) => properties?.[tag]?.const === given)) {
    const ofUnion = branchesByTag.get(union) ?? new Map();
    branchesByTag.set(union, ofUnion.set(given, named));
  }
  return named;
}

function takesAnyMember({ properties, additionalProperties, patternProperties }: SchemaNode): boolean {
  if (patternProperties !== undefined) return true;
  if (additionalProperties !== undefined) return additionalProperties !== false;
  return Object.keys(properties ?? {}).length === 0;
}

function schemaOfMember({ properties = {}, additionalProperties }: SchemaNode, name: string): SchemaNode[] {
  const listed = lookUp(properties, name);
  if (listed !== undefined) return [listed];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}
