import Type from 'typebox';
import { closed, oneOf, optional } from '../../kit/json/schema.ts';
import { MOST_USD_OF_PRICE, PRICE_NAMES, type PriceName } from './price-names.ts';

/** Members of models and endpoints, as a person writes them: in the configuration and in the data of the catalogue. */

const QUANTIZATIONS = [
  'int4',
  'int8',
  'fp4',
  'mxfp4',
  'nvfp4',
  'fp6',
  'fp8',
  'mxfp8',
  'fp16',
  'bf16',
  'fp32',
  'unknown',
] as const;

export const providerSlug = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  explain: 'must be 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
});

export const modelId = Type.String({
  pattern: '^[A-Za-z0-9~][A-Za-z0-9._~:/+-]{0,255}$',
  explain: 'must be 1 to 256 letters, digits and ".", "_", "-", ":", "/", "+", for example acme/large',
});

export const endpointTag = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}(/[a-z0-9][a-z0-9._-]{0,63}){0,3}$',
  explain: 'must be a provider slug, with parts such as /turbo or /eu behind it',
});

export const quantization = oneOf(QUANTIZATIONS);

export const tokens = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

/** From nothing to everything. */
export const share = Type.Number({ minimum: 0, maximum: 1 });

export const inputModalities = Type.Array(oneOf(['text', 'image', 'file', 'audio', 'video']), {
  minItems: 1,
});

export const outputModalities = Type.Array(oneOf(['text', 'image', 'audio', 'video', 'embeddings']), {
  minItems: 1,
});

export const quality = closed({ general: optional(share), coding: optional(share) });

/** How much a model can be asked to think, from the least to the most. Not to think at all is no effort. */
export const EFFORT_WORDS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** How a model thinks: whether it always does, and how much it can be asked to. */
export const reasoning = closed({
  mandatory: Type.Boolean(),
  default_enabled: optional(Type.Boolean()),
  default_effort: optional(oneOf(EFFORT_WORDS)),
  supported_efforts: optional(
    Type.Array(oneOf(EFFORT_WORDS), { minItems: 1, maxItems: EFFORT_WORDS.length }),
  ),
  supports_max_tokens: optional(Type.Boolean()),
});

/** A day, or a month where the day is not known. */
export const dayOrMonth = Type.String({
  pattern: '^\\d{4}-\\d{2}(-\\d{2})?$',
  explain: 'must be a day such as 2026-05-01, or a month such as 2026-05',
});

/** A day of the calendar. */
export const day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  explain: 'must be a day such as 2026-05-01',
});

export const parameterNames = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 256 });

/** A price of at most a power of ten. */
function priceUpTo(mostUsd: number) {
  const digits = String(mostUsd).length - 1;
  const less = `\\d{1,${digits}}(\\.\\d{1,18})?`;
  return Type.Optional(
    Type.Union(
      [Type.String({ pattern: `^0{0,${11 - digits}}(${less}|${mostUsd}(\\.0{1,18})?)$` }), Type.Null()],
      {
        explain: `must be an exact decimal in quotes, for example "0.000001", of at most ${mostUsd} USD`,
      },
    ),
  );
}

const prices = Object.fromEntries(PRICE_NAMES.map((name) => [name, priceUpTo(MOST_USD_OF_PRICE[name])])) as {
  [name in PriceName]: ReturnType<typeof priceUpTo>;
};

/** Prices in USD per unit. `overrides`: prices that hold instead once a prompt is this long; later ones win. */
export const pricing = closed({
  ...prices,
  overrides: optional(Type.Array(closed({ min_prompt_tokens: tokens, ...prices }), { maxItems: 16 })),
});

/** A day, or a moment in UTC. */
export const moment = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z)?$',
  explain: 'must be a day such as 2026-05-01, or a moment such as 2026-05-01T12:00:00Z',
});

/** Prices that begin to hold at a moment; `pricing` holds before the first of them. */
export const datedPrices = Type.Array(closed({ from: moment, pricing }), { maxItems: 256 });
