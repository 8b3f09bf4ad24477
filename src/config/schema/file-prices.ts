import { maxPriceUsd, PER_MILLION, PRICE_NAMES, type PriceName, priceMeaning } from './price-names.ts';

/** Prices in the JSON Schema of the file: of one unit, and for a million. */

const NULL = { type: 'null' };

/** Definitions by the highest price that they take. */
const DEFINITION_NAMES: ReadonlyMap<number, string> = new Map([
  [maxPriceUsd('prompt'), 'price'],
  [maxPriceUsd('request'), 'price_of_a_piece'],
]);

export function priceReference(name: string): string {
  const maximum = maxPriceUsd(name as PriceName);
  return DEFINITION_NAMES.get(maximum) ?? 'price';
}

export function isPriceName(name: string): name is PriceName {
  return (PRICE_NAMES as readonly string[]).includes(name);
}

export function perMillionDefinitions(variable: object): Record<string, object> {
  return Object.fromEntries(
    [...DEFINITION_NAMES].map(([maxUsd, name]) => [
      `${name}${PER_MILLION}`,
      {
        anyOf: [
          { type: 'number', minimum: 0, maximum: maxUsd * 1e6 },
          { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,12}0{0,6})?$' },
          variable,
          NULL,
        ],
      },
    ]),
  );
}

export function pricePropertiesPerMillion(): Record<string, object> {
  return Object.fromEntries(
    PRICE_NAMES.map((name) => [
      `${name}${PER_MILLION}`,
      {
        description: `${priceMeaning(name)} In USD for a million.`,
        $ref: `#/$defs/${priceReference(name)}${PER_MILLION}`,
      },
    ]),
  );
}

/** A price is written in one of both ways: beside one, the other must be absent or null. */
export function onePriceEach(): Record<string, object> {
  return Object.fromEntries(
    PRICE_NAMES.map((name) => {
      const perMillion = `${name}${PER_MILLION}`;
      return [perMillion, { anyOf: [name, perMillion].map((key) => ({ properties: { [key]: NULL } })) }];
    }),
  );
}
