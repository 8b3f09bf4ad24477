import Type, { type Static } from 'typebox';
import { closed } from '../../kit/json/schema.ts';
import { nullable } from '../values/nullable.ts';

export const priceChangeSchema = Type.Object({
  model: Type.String(),
  endpoint: Type.String({ description: 'Its tag.' }),
  member: Type.String({ description: 'Name of the price, such as `prompt`.' }),
  min_prompt_tokens: Type.Integer({
    description: 'Prompts of at least so many tokens; 0 = the regular price.',
  }),
  at: Type.String({ format: 'date-time', description: 'When the gateway took it into use.' }),
  before: nullable(Type.String(), { description: 'USD per unit, exact; null = there was none.' }),
  after: nullable(Type.String(), { description: 'Null = there is none any more.' }),
  is_first: Type.Boolean({ description: 'The gateway saw a price for the first time: it changed nothing.' }),
});

export type PriceChangeObject = Static<typeof priceChangeSchema>;

export const MAX_PRICE_CHANGES = 10_000;

export const pricesQuerySchema = closed({
  model: Type.Optional(
    Type.String({
      maxLength: 512,
      description: 'Of this model alone, with the prices that were seen first.',
    }),
  ),
});

export type PricesQuery = Static<typeof pricesQuerySchema>;

export const priceChangeListSchema = Type.Object({
  data: Type.Array(priceChangeSchema),
  total_count: Type.Integer({ description: `More than \`data\` has above ${MAX_PRICE_CHANGES} changes.` }),
});
