import Type from 'typebox';

export const deletedSchema = Type.Object({ deleted: Type.Literal(true) });
