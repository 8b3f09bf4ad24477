import type { Pricing } from '../../../src/catalog/catalog.ts';
import { parsePrice } from '../../../src/kit/money.ts';
import { endpointOf, modelOf, providerOf } from './catalog.ts';

/** So many micro-dollars for a token in, and nothing for one out. */
export const priced = (micros: number): Pricing => ({ prompt: parsePrice((micros / 1e6).toFixed(9)) ?? 0n });

/** Retains nothing. */
export const acme = providerOf({
  slug: 'acme',
  name: 'Acme',
  dataPolicy: { training: false, retainsPrompts: false },
});

/** Unknown data policy; speaks the responses dialect. */
export const beta = providerOf({ slug: 'beta', name: 'Beta Cloud', dialect: 'responses' });

/** Retains prompts. */
export const gamma = providerOf({
  slug: 'gamma',
  name: 'Gamma',
  dataPolicy: { training: false, retainsPrompts: true },
});

/** The middle one, the most expensive and the cheapest. */
export const three = [
  endpointOf({ provider: beta, tag: 'beta', pricing: priced(2) }),
  endpointOf({ provider: gamma, tag: 'gamma', pricing: priced(3) }),
  endpointOf({ provider: acme, tag: 'acme', pricing: priced(1) }),
] as const;

/** The model of the three. */
export const model = modelOf({ endpoints: three });

/** One with variants and tiers. */
export const wide = modelOf({
  endpoints: [
    endpointOf({ provider: acme, tag: 'acme', pricing: priced(4) }),
    endpointOf({ provider: acme, tag: 'acme/turbo', quantization: 'fp8', pricing: priced(5) }),
    endpointOf({ provider: acme, tag: 'acme/flex', pricing: priced(2) }),
    endpointOf({ provider: acme, tag: 'acme/priority', pricing: priced(8) }),
    endpointOf({ provider: beta, tag: 'beta', pricing: priced(10) }),
    endpointOf({ provider: beta, tag: 'beta/flex', pricing: priced(1) }),
    endpointOf({ provider: beta, tag: 'beta/priority', pricing: priced(9) }),
  ],
});
