import Type, { type TSchema } from 'typebox';

/** A member that is always present and may be null. */
export function nullable<T extends TSchema>(schema: T, options: { readonly description?: string } = {}) {
  return Type.Union([schema, Type.Null()], options);
}
