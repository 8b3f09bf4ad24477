import Type from 'typebox';

/** Reply of every delete. */
export const deletedSchema = Type.Object({ deleted: Type.Literal(true) });
