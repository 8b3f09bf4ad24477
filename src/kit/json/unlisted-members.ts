import type { TSchema } from 'typebox';
import { lookUp } from '../collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';
import { flatten, matches, namedBranches, type SchemaNode } from './validate.ts';

/** A member that the schema of its object does not list, or a listed member with a value that it does not list. */
export interface UnlistedMember {
  /** Its place in the body: `tools[0].function.strickt`, `include[2]`. */
  readonly path: string;
  /** The member's name; for an element of a list, that of the list. */
  readonly name: string;
  readonly value: Json;
  /** True if the schema lists the member, but not its value (`openOneOf`, `openUnion`). */
  readonly isValue?: true;
}

/**
 * The members of a valid value that its schema does not list, and values that it takes without listing them; at most
 * so many. Objects of which the schema lists nothing may have any member, and of open ones only texts are looked at.
 * Null means absent.
 */
export function unlistedMembers(schema: TSchema, value: JsonObject, most: number): readonly UnlistedMember[] {
  const found: UnlistedMember[] = [];
  visit([schema as SchemaNode], value, { path: '', name: '' }, found, most);
  return found;
}

type Place = Pick<UnlistedMember, 'path' | 'name'>;

function visit(
  schemas: readonly SchemaNode[],
  value: Json | undefined,
  place: Place,
  found: UnlistedMember[],
  most: number,
): void {
  if (typeof value === 'string') {
    if (isUnlisted(schemas, value)) found.push({ ...place, value, isValue: true });
    return;
  }
  const { path, name: list } = place;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(flatten).flatMap((node) => node.items ?? []);
    if (items.length === 0) return;
    for (let index = 0; index < value.length && found.length < most; index++) {
      visit(items, value[index], { path: `${path}[${index}]`, name: list }, found, most);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  const nodes = schemas.flatMap((schema) => objectNodes(schema, value));
  if (nodes.length === 0) return;
  const isOpen = nodes.some(({ open }) => open === true);
  const takesAny = isOpen || nodes.some(takesAnyMember);
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= most) return;
    if (member === null || member === undefined || (isOpen && typeof member !== 'string')) continue;
    const inside = { path: path === '' ? name : `${path}.${name}`, name };
    const listed = nodes.flatMap((node) => schemaOfMember(node, name));
    if (listed.length > 0) visit(listed, member, inside, found, most);
    else if (!takesAny) found.push({ ...inside, value: member });
  }
}

/** True for a text that the schemas take without listing it. */
function isUnlisted(schemas: readonly SchemaNode[], text: string): boolean {
  const nodes = schemas.flatMap(flatten);
  if (!nodes.some(({ unlisted }) => unlisted === true)) return false;
  return nodes.filter((node) => matches(node, text)).every(({ unlisted }) => unlisted === true);
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
