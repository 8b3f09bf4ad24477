import Type from 'typebox';

const UUID = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

export const uuid = Type.String({ pattern: UUID, explain: 'must be a UUID', description: 'UUID.' });
