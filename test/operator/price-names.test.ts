import { expect, it } from 'vitest';
import { KNOWN_PROVIDERS } from '../../src/catalog/build-catalog.ts';
import { PRICE_NAMES } from '../../src/catalog/catalog.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { CONFIGURED_PRICES } from '../../src/config/schema.ts';

it('the file takes exactly the prices that the catalogue knows', () => {
  expect(CONFIGURED_PRICES).toEqual(PRICE_NAMES);
});

it('an installation without a file is a valid one', () => {
  expect(loadConfiguration({ env: {}, cwd: '/', knownProviders: KNOWN_PROVIDERS }).ok).toBe(true);
});
