import type { TSchema } from 'typebox';
import type { SchemaNode } from './validate.ts';

/** The words that schemas list: names of members, and by these the texts that are their values. */
export class SchemaWords {
  readonly #names = new Set<string>();
  readonly #values = new Map<string, Set<string>>();

  constructor(schemas: Iterable<TSchema>) {
    for (const schema of schemas) this.#visit(schema as SchemaNode, '');
  }

  hasName(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether a text is a listed value of a member; those of the elements of a list are those of its member. */
  hasValue(member: string, text: string): boolean {
    return this.#values.get(member)?.has(text) === true;
  }

  #visit(node: SchemaNode, member: string): void {
    for (const value of node.enum ?? [node.const]) if (typeof value === 'string') this.#add(member, value);
    for (const inner of [...(node.anyOf ?? []), ...(node.allOf ?? [])]) this.#visit(inner, member);
    if (node.items !== undefined) this.#visit(node.items, member);
    if (typeof node.additionalProperties === 'object') this.#visit(node.additionalProperties, '');
    for (const inner of Object.values(node.patternProperties ?? {})) this.#visit(inner, '');
    for (const [name, inner] of Object.entries(node.properties ?? {})) {
      this.#names.add(name);
      this.#visit(inner, name);
    }
  }

  #add(member: string, value: string): void {
    const values = this.#values.get(member);
    if (values === undefined) this.#values.set(member, new Set([value]));
    else values.add(value);
  }
}
