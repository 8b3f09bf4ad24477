import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** A field that may be absent or null: both mean the same. */
export function nullish<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** A copy with a sentence on what it is for, for documents that are made from the schema. */
export function described<T extends TSchema>(description: string, schema: T): T {
  // TypeBox marks optional members by properties that a spread leaves out.
  const copy = Object.create(Object.getPrototypeOf(schema), Object.getOwnPropertyDescriptors(schema));
  return Object.assign(copy, { description });
}

/** A closed set of strings. */
export function oneOf<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ ...options, enum: [...values] });
}

/**
 * Strings of which these are known. Any other one is valid too: an upstream of the same format may know it, and the
 * gateway does not act on it. `unlistedMembers` finds it, so that reports name it. Use `oneOf` only for values that
 * the gateway itself acts on.
 */
export function openOneOf(values: readonly string[], options: object = {}) {
  return Type.Unsafe<string>({
    ...options,
    anyOf: [{ enum: [...values] }, { type: 'string', unlisted: true }],
  });
}

/** An object that refuses fields it does not know. */
export function closed<T extends TProperties>(properties: T, options: object = {}): TObject<T> {
  return Type.Object(properties, { ...options, additionalProperties: false });
}

/** A union discriminated by one field: only the branch that the value names is reported on. */
export function taggedUnion<T extends TSchema[]>(tag: string, branches: [...T], options: object = {}) {
  return Type.Union(branches, { ...options, discriminator: { propertyName: tag } });
}

/** An object of which no report names unlisted members, its own or those of objects inside it. */
export function open<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { open: true });
}

/**
 * A tagged union that takes objects of other tags too, without checks of their members: an upstream of the same
 * format may know them. `unlistedMembers` finds such a tag, unless it is one of `documented`.
 */
export function openUnion<T extends TSchema[]>(
  tag: string,
  branches: [...T],
  { documented = [], ...options }: { readonly documented?: readonly string[] } & object = {},
) {
  const known = branches.flatMap((branch) => tagsOf(branch, tag));
  return taggedUnion(tag, [...branches, otherThan(tag, known, documented)], options);
}

function tagsOf(branch: TSchema, tag: string): string[] {
  const node = (branch as { properties?: Readonly<Record<string, unknown>> }).properties?.[tag];
  return literalsIn(node).filter((value) => typeof value === 'string');
}

function literalsIn(node: unknown): unknown[] {
  const {
    const: only,
    enum: several,
    anyOf = [],
  } = (node ?? {}) as Partial<Record<'enum' | 'anyOf', unknown[]>> & {
    const?: unknown;
  };
  return several ?? (only === undefined ? anyOf.flatMap(literalsIn) : [only]);
}

/**
 * The branch of a tagged union for all other tags: its fields are not checked. `documented`: tags that
 * `unlistedMembers` does not name; absent = it names none.
 */
export function otherThan(tag: string, known: readonly string[], documented?: readonly string[]) {
  const unlisted = documented === undefined ? {} : { unlisted: true };
  const other = { type: 'string', minLength: 1, not: { enum: [...known] }, ...unlisted };
  const listed = (documented ?? []).length > 0 ? [{ enum: [...(documented ?? [])] }] : [];
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    open: true,
    required: [tag],
    properties: { [tag]: listed.length === 0 ? other : { anyOf: [...listed, other] } },
  });
}
