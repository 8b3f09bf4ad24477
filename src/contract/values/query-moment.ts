import Type from 'typebox';

/** A moment in a query. `queryMomentMs` reads it. */
export function queryMoment(description: string) {
  return Type.Optional(
    Type.String({
      maxLength: 64,
      description: `${description} ISO 8601, with an offset or in UTC; a date alone is its midnight.`,
    }),
  );
}
