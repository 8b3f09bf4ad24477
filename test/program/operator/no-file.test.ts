import { expect, it } from 'vitest';
import { KNOWN_PROVIDERS } from '../../../src/catalog/providers/known-providers.ts';
import { loadConfiguration } from '../../../src/config/load.ts';

it('an installation without a file is a valid one', () => {
  expect(loadConfiguration({ env: {}, cwd: '/', knownProviders: KNOWN_PROVIDERS }).ok).toBe(true);
});
