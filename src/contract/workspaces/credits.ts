import Type from 'typebox';

export const creditsSchema = Type.Object({
  data: Type.Object(
    {
      total_credits: Type.Number({
        description: 'Used and left, USD; 0 when no balance is enforced.',
      }),
      total_usage: Type.Number({ minimum: 0, description: 'Used, USD. Requests in flight are not counted.' }),
    },
    { description: 'The balance of the account.' },
  ),
});
