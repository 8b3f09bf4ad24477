import Type from 'typebox';

const price = Type.String({ pattern: '^\\d+(\\.\\d+)?$' });
const otherPrice = Type.Optional(price);

const otherPrices = {
  request: otherPrice,
  image: otherPrice,
  image_token: otherPrice,
  image_output: otherPrice,
  audio: otherPrice,
  audio_output: otherPrice,
  input_audio_cache: otherPrice,
  input_cache_read: otherPrice,
  input_cache_write: otherPrice,
  input_cache_write_1h: otherPrice,
  internal_reasoning: otherPrice,
  web_search: otherPrice,
  x_search: otherPrice,
  file_search: otherPrice,
  code_execution: otherPrice,
  image_generation: otherPrice,
  image_generation_input: otherPrice,
  discount: Type.Optional(Type.Number({ description: 'A share of the price, not an amount.' })),
};

const override = Type.Object({
  min_prompt_tokens: Type.Integer({ minimum: 1 }),
  prompt: otherPrice,
  completion: otherPrice,
  ...otherPrices,
});

/** Prices of a model or an endpoint: exact decimal strings, USD per token or unit. Absent = 0. */
export const pricingSchema = Type.Object(
  {
    prompt: price,
    completion: price,
    ...otherPrices,
    overrides: Type.Optional(
      Type.Array(override, {
        description:
          'Prices that hold instead for prompts of at least `min_prompt_tokens`; later entries win, ' +
          'names that are absent keep their price.',
      }),
    ),
  },
  {
    description: 'Exact decimal strings, USD per token or unit.',
    examples: [{ prompt: '0.000001', completion: '0.000004' }],
  },
);
