import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** A field that may be absent or null: both mean the same. */
export function nullish<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** A closed set of strings. */
export function oneOf<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ ...options, enum: [...values] });
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

/** The branch of a tagged union for all other tags: its fields are not checked. */
export function otherThan(tag: string, known: readonly string[]) {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    open: true,
    required: [tag],
    properties: { [tag]: { type: 'string', minLength: 1, not: { enum: [...known] } } },
  });
}
