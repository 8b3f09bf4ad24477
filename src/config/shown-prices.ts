import { formatPrice, parsePrice } from '../kit/money.ts';
import { PER_MILLION, TOKEN_PRICES } from './schema/price-names.ts';
import type { Config } from './schema/schema.ts';

type Pricing = NonNullable<Config['models'][number]['endpoints'][number]['pricing']>;

/** The configuration with prices of tokens per million, as price lists have them. The result is a valid file too. */
export function shownPrices(config: Config): object {
  return {
    ...config,
    models: config.models.map((model) => ({
      ...model,
      endpoints: model.endpoints.map(({ pricing, prices, ...endpoint }) => ({
        ...endpoint,
        ...(pricing && { pricing: perMillion(pricing) }),
        ...(prices && { prices: prices.map((dated) => ({ ...dated, pricing: perMillion(dated.pricing) })) }),
      })),
    })),
  };
}

const MILLION = 1_000_000n;

/** Prices of an endpoint as the file writes them: those of tokens per million. */
export function pricesPerMillion(pricing: object): object {
  return perMillion(pricing as Pricing);
}

function perMillion({ overrides, ...prices }: Pricing): object {
  return {
    ...shown(prices),
    ...(overrides && {
      overrides: overrides.map(({ min_prompt_tokens, ...rest }) => ({ min_prompt_tokens, ...shown(rest) })),
    }),
  };
}

function shown(prices: Omit<Pricing, 'overrides'>): object {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => {
      const parsed = isTokenPrice(name) && price ? parsePrice(price) : undefined;
      return parsed === undefined
        ? [name, price]
        : [`${name}${PER_MILLION}`, numberOf(formatPrice(parsed * MILLION))];
    }),
  );
}

function isTokenPrice(name: string): boolean {
  return (TOKEN_PRICES as readonly string[]).includes(name);
}

/** A number if it has the same digits, else the text. */
function numberOf(decimal: string): number | string {
  return String(Number(decimal)) === decimal ? Number(decimal) : decimal;
}
