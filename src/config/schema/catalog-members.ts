import Type from 'typebox';
import { closed, described, nullish, oneOf } from '../../kit/json/schema.ts';
import { maxPriceUsd, PRICE_NAMES, type PriceName, priceMeaning } from './price-names.ts';

/** Schemas of the members of models and endpoints, for the configuration file and the catalogue's data. */

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

export const share = Type.Number({ minimum: 0, maximum: 1 });

export const inputModalities = Type.Array(oneOf(['text', 'image', 'file', 'audio', 'video']), {
  minItems: 1,
});

export const outputModalities = Type.Array(oneOf(['text', 'image', 'audio', 'video', 'embeddings']), {
  minItems: 1,
});

export const quality = closed({
  general: described('Score for general questions.', nullish(share)),
  coding: described('Score for code.', nullish(share)),
});

/** Reasoning efforts, ascending. Switching reasoning off is not an effort. */
export const EFFORT_WORDS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export const reasoning = closed({
  mandatory: described('Whether reasoning cannot be switched off.', Type.Boolean()),
  default_enabled: described(
    'Whether the model reasons by itself if a request does not say. Shown to callers, not sent to the provider.',
    nullish(Type.Boolean()),
  ),
  default_effort: described(
    'Its own effort if a request does not say. Shown to callers, not sent.',
    nullish(oneOf(EFFORT_WORDS)),
  ),
  supported_efforts: described(
    'Efforts that it takes; absent: unknown, all that the dialect has are passed on.',
    nullish(Type.Array(oneOf(EFFORT_WORDS), { minItems: 1, maxItems: EFFORT_WORDS.length })),
  ),
  supports_max_tokens: described('Whether it takes a budget in tokens.', nullish(Type.Boolean())),
});

/** A day, or a month if the day is not known. */
export const dayOrMonth = Type.String({
  pattern: '^\\d{4}-\\d{2}(-\\d{2})?$',
  explain: 'must be a day such as 2026-05-01, or a month such as 2026-05',
});

export const day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  explain: 'must be a day such as 2026-05-01',
});

export const parameterNames = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 256 });

/** Schema of a price of at most `maxUsd`, which must be a power of ten. */
function priceUpTo(maxUsd: number) {
  const digits = String(maxUsd).length - 1;
  const less = `\\d{1,${digits}}(\\.\\d{1,18})?`;
  return Type.Optional(
    Type.Union(
      [Type.String({ pattern: `^0{0,${11 - digits}}(${less}|${maxUsd}(\\.0{1,18})?)$` }), Type.Null()],
      {
        explain: `must be an exact decimal in quotes, for example "0.000001", of at most ${maxUsd} USD`,
      },
    ),
  );
}

const prices = Object.fromEntries(
  PRICE_NAMES.map((name) => [name, described(priceMeaning(name), priceUpTo(maxPriceUsd(name)))]),
) as { [name in PriceName]: ReturnType<typeof priceUpTo> };

/** The configuration file may write these prices per million too. */
const PRICES_NOTATION = { hasPrices: true };

/** Prices in USD per unit. `overrides`: prices for prompts of at least `min_prompt_tokens`; later ones win. */
export const pricing = closed(
  {
    ...prices,
    overrides: described(
      'Prices of long prompts. Later ones win; names that are left out keep their price.',
      nullish(
        Type.Array(
          closed(
            {
              min_prompt_tokens: described('Prompts of at least this many tokens have these prices.', tokens),
              ...prices,
            },
            PRICES_NOTATION,
          ),
          { maxItems: 16 },
        ),
      ),
    ),
  },
  { ...PRICES_NOTATION, definition: 'pricing' },
);

/** A day, or a time in UTC. */
export const moment = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z)?$',
  explain: 'must be a day such as 2026-05-01, or a moment such as 2026-05-01T12:00:00Z',
});

/** Prices with their start; `pricing` holds before the first. */
export const datedPrices = Type.Array(
  closed({
    from: described('Day, or moment in UTC, from which these prices hold.', moment),
    pricing: described('Prices from then on. All of them: none is taken from before.', pricing),
  }),
  { maxItems: 256 },
);
