import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { priceOfAnswer, priceOfTools } from './answer-price.ts';
import { priceListsOf } from './price-history.ts';

const listed = (prompt: string) => ({
  priceLists: priceListsOf({
    pricing: {
      prompt,
      completion: '0.000004',
      web_search: '0.01',
      overrides: [{ min_prompt_tokens: 1000, prompt: '0.00001' }],
    },
    prices: [{ from: '2026-05-01', pricing: { prompt: '0.000009' } }],
  }),
});
const standard = endpointOf({ tag: 'p', ...listed('0.000001') });
const priority = endpointOf({ tag: 'p/priority', provider: standard.provider, ...listed('0.000002') });
const model = modelOf({ endpoints: [standard, priority] });
const answer = {
  endpoint: standard,
  model,
  atMs: 0,
  usage: { ...NO_USAGE, inputTokens: 100, outputTokens: 10, webSearchRequests: 2 },
  inputImages: 0,
};
const SEARCHES = 20_000_000n;

describe('the price of an answer', () => {
  it.each([
    ['by the endpoint that was called', {}, 100_000n],
    ['by the tier that served it', { servedTier: 'priority' }, 200_000n],
    ['by the time of its request', { atMs: Date.UTC(2026, 4, 1) }, 900_000n],
    ['by the length of its prompt', { usage: { ...answer.usage, inputTokens: 1000 } }, 10_000_000n],
  ])('is found %s', (_, changes, inputNanos) => {
    expect(priceOfAnswer({ ...answer, ...changes })).toMatchObject({ inputNanos, isByok: false });
  });

  it('is a share of the list price with a BYOK credential', () => {
    const { totalNanos, isByok } = priceOfAnswer({ ...answer, feeShare: 0.05 });
    expect(totalNanos).toBe((100_000n + 40_000n + SEARCHES) / 20n);
    expect(isByok).toBe(true);
  });

  it('can be that of its searches alone', () => {
    expect(priceOfTools({ webSearchRequests: 2 }, answer).totalNanos).toBe(SEARCHES);
    expect(priceOfTools({ webSearchRequests: 2 }, { ...answer, feeShare: 0.05 }).totalNanos).toBe(
      SEARCHES / 20n,
    );
  });
});
