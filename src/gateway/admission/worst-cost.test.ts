import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { priceListsOf } from '../../catalog/prices/price-history.ts';
import { allShippedModels } from '../../catalog/shipped-models.ts';
import { PRICE_NAMES } from '../../config/schema/price-names.ts';
import { HOSTED_PRICES } from '../../ir/hosted-use.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import type { Affordable } from '../../ports/money/ledger.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import type { Access, Candidate } from '../../routing/rules/candidate.ts';
import { amountOf, billGeneration } from '../leg/bill-generation.ts';
import { canPay, sizeReservation } from './reservation-size.ts';
import { type EndpointTools, NO_TOOLS } from './tools-asked.ts';
import { type CostFacts, WorstCost } from './worst-cost.ts';

const byok: Access = { kind: 'byok', credential: { id: 'c' } as ByokCredential };

const searchesOf = (most: number, isBoundable = true): EndpointTools =>
  most === 0
    ? NO_TOOLS
    : { asked: [{ kind: 'web_search', units: { web_search: 1 }, most, isBoundable }], sharesLimit: false };

/** Searches, pictures and a container, with one limit for all. */
const toolsOf = (most: number, isBoundable: boolean): EndpointTools => ({
  asked: [
    { kind: 'web_search', units: { web_search: 1 }, most, isBoundable },
    { kind: 'x', units: { x_search: 1, file_search: 2 }, most, isBoundable: false },
    { kind: 'draw', units: { image_generation: 7500, image_generation_input: 5000 }, most, isBoundable },
    { kind: 'run', units: { code_execution: 4 }, most, isBoundable, isOnce: true },
    { kind: 'mcp', units: {}, most, isBoundable: false },
  ],
  sharesLimit: true,
});

const FACTS: CostFacts = {
  promptTokens: 100,
  images: [],
  mayFillContext: false,
  inputImages: 2,
  toolsAsked: () => NO_TOOLS,
  mostCalls: 10,
  mayCompact: false,
  namesRegion: false,
  requestedOutputTokens: undefined,
  byokFee: 0,
  atMs: 0,
};

function cost(pricing: Record<string, string>, more: Partial<CostFacts> & { endpoint?: object } = {}) {
  const { endpoint = {}, ...facts } = more;
  const offered = endpointOf({ priceLists: priceListsOf({ pricing }), ...endpoint });
  const access: Access = facts.byokFee === undefined ? { kind: 'shared' } : byok;
  return new WorstCost(
    { model: modelOf({ endpoints: [offered] }), endpoint: offered, access, lane: 'translate' },
    { ...FACTS, ...facts },
  );
}

describe('the worst cost', () => {
  it('takes the dearest way in which each token may be counted', () => {
    const pricing = {
      prompt: '0.000000002',
      input_cache_write: '0.000000003',
      input_cache_write_1h: '0.000000004',
      completion: '0.000000005',
      internal_reasoning: '0.000000007',
      request: '0.00000001',
      image: '0.0000001',
    };
    expect(cost(pricing).amountOf(10)).toEqual({ creditNanos: 400n + 70n + 10n + 200n, byokNanos: 0n });
  });

  it('pays for a context that files may fill, and for one of the largest where its length is not known', () => {
    const filled = (contextLength: number | undefined) =>
      cost({ prompt: '0.000000001' }, { mayFillContext: true, endpoint: { contextLength } }).amountOf(0);
    expect(filled(200_000).creditNanos).toBe(200_000n);
    expect(filled(undefined).creditNanos).toBe(1_048_576n);
    expect(filled(10).creditNanos).toBe(100n);
  });

  it('pays for images by what they count for at most, at models that count more for more', () => {
    const images = (upstreamModel: string, width?: number, height = width) => {
      const size = width === undefined || height === undefined ? undefined : { width, height };
      const endpoint = { upstreamModel, contextLength: 1_000_000 };
      return cost({ prompt: '0.000000001' }, { images: [size, size], endpoint }).amountOf(0).creditNanos;
    };
    expect(images('gpt-5')).toBe(10_100n);
    expect(images('gpt-4o-mini-2024-07-18')).toBe(100_100n);
    expect(images('gpt-5.4-mini')).toBe(10_100n);
    expect(images('openai.gpt-5.5')).toBe(24_100n);
    expect(images('gpt-6-astra')).toBe(72_100n);
    expect(images('gpt-6-astra', 4032, 3024)).toBe(2n * 14_364n + 100n);
    expect(images('qwen3-vl-plus', 10)).toBe(2n * 16_384n + 100n);
    expect(images('gemini-2.5-flash', 12_288)).toBe(2n * 66_048n + 100n);
    expect(images('gemini-2.5-flash', 10)).toBe(10_100n);
    expect(images('gemini-2.5-flash', 30_000, 300)).toBe(2n * 258n * 236n + 100n);
    expect(images('gemini-2.5-flash')).toBe(1_000_000n);
    expect(images('gemini-3.5-flash')).toBe(10_100n);
    const deployed = (endpoint: object) =>
      cost(
        { prompt: '0.000000001' },
        { images: [undefined], endpoint: { contextLength: 500_000, ...endpoint } },
      );
    expect(deployed({ modelId: 'openai/gpt-6-astra', upstreamModel: 'ours' }).promptTokens).toBe(36_100);
    expect(deployed({ provider: providerOf({ dialect: 'gemini' }) }).promptTokens).toBe(500_000);
  });

  it('pays for searches, for what they bring into the prompt, and for the prompt anew with each of them', () => {
    const pricing = { prompt: '0.000000001', web_search: '0.01' };
    const searching = (most: number, isBoundable = true) =>
      cost(pricing, { toolsAsked: () => searchesOf(most, isBoundable), mostCalls: 4 });
    const two = searching(2);
    expect(two.amountOf(0).creditNanos).toBe(20_000_000n + 100n + 2n * (100n + 16_384n));
    expect(two.paidTools).toEqual({ calls: 2, bound: undefined, units: { web_search: 2 } });
    expect(searching(Number.POSITIVE_INFINITY).paidTools).toMatchObject({ calls: 4, bound: 4 });
    expect(searching(Number.POSITIVE_INFINITY, false).paidTools).toMatchObject({
      calls: 10,
      bound: undefined,
    });
  });

  it('pays for a context that is compacted before each pass, and for the summaries', () => {
    const pricing = { prompt: '0.000000001', completion: '0.000000005' };
    const compacting = (searches: number) =>
      cost(pricing, { mayCompact: true, toolsAsked: () => searchesOf(searches) });
    const summary = 16_384n * 5n;
    expect(compacting(0).amountOf(0).creditNanos).toBe(2n * 100n + summary);
    expect(compacting(1).amountOf(0).creditNanos).toBe(2n * (100n + 100n + 16_384n) + 2n * summary);
    expect(
      cost(pricing, { mayCompact: true, endpoint: { maxOutputTokens: 10 } }).amountOf(0).creditNanos,
    ).toBe(250n);
    const usage = { ...NO_USAGE, inputTokens: 200, outputTokens: 16_394 };
    expect(compacting(0).exceededBy(usage, 10)).toBe('price');
    expect(compacting(0).exceededBy(usage, 9)).toBe('output');
  });

  it('covers the dearest tier that may serve', () => {
    const provider = providerOf({ slug: 'p' });
    const [standard, priority, stranger] = [
      ['p', '0.000000001', provider],
      ['p/priority', '0.000000005', provider],
      ['q', '0.000000009', providerOf({ slug: 'q' })],
    ].map(([tag, completion, each]) =>
      endpointOf({
        provider: each as typeof provider,
        tag: tag as string,
        priceLists: priceListsOf({ pricing: { completion: completion as string } }),
      }),
    );
    const model = modelOf({ endpoints: [standard!, priority!, stranger!] });
    const worst = new WorstCost(
      { model, endpoint: standard!, access: { kind: 'shared' }, lane: 'relay' },
      FACTS,
    );
    expect(worst.amountOf(10).creditNanos).toBe(50n);
  });

  it('is the fee beside the list price if a BYOK credential is used', () => {
    const listed = cost({ prompt: '0.000000001', completion: '0.000000001' }, { byokFee: 0.05 });
    expect(listed.amountOf(100)).toEqual({ creditNanos: 10n, byokNanos: 200n });
    expect(listed.tokensWithin({ creditNanos: 10n, byokNanos: 150n })).toBe(50);
    expect(listed.tokensWithin({ creditNanos: 6n, byokNanos: 1000n })).toBe(20);
  });

  it.each([
    [{ maxOutputTokens: 500, contextLength: 1000 }, undefined, 500, false],
    [{ maxOutputTokens: 500, contextLength: 1000 }, 40, 40, false],
    [{ maxOutputTokens: undefined, contextLength: 1000 }, undefined, 1000, false],
    [{ maxOutputTokens: undefined, contextLength: undefined }, undefined, 32_768, true],
    [{ maxOutputTokens: undefined, contextLength: undefined }, 7, 7, false],
  ])(
    'knows how much %j writes, asked for %s',
    (endpoint, requestedOutputTokens, fullTokens, isOutputAssumed) => {
      expect(cost({}, { endpoint, requestedOutputTokens })).toMatchObject({ fullTokens, isOutputAssumed });
    },
  );

  it('does not pay for a prompt that is too dear', () => {
    expect(cost({ prompt: '0.000001' }).tokensWithin({ creditNanos: 99n, byokNanos: 0n })).toBe(-1);
  });

  it.each([
    ['searches', { webSearchRequests: 3 }],
    ['tools', { hosted: { image_generation: 1 } }],
    ['tools', { inputTokens: 101, hostedCalls: 1 }],
    ['prompt', { inputTokens: 101 }],
    ['output', { inputTokens: 100, outputTokens: 11 }],
    ['price', { inputTokens: 100, outputTokens: 10 }],
  ] as const)('names %s where that went beyond it', (cause, counts) => {
    expect(cost({}).exceededBy({ ...NO_USAGE, ...counts }, 10)).toBe(cause);
  });
});

/** Prices with more digits than a nano-dollar has. */
const price = fc
  .tuple(fc.nat(3), fc.bigInt(0n, 10n ** 15n))
  .map(([dollars, fraction]) => `${dollars === 3 ? 1 : 0}.${String(fraction).padStart(18, '0')}`);
const prices = fc.dictionary(fc.constantFrom(...PRICE_NAMES), price, { maxKeys: 6 });
const fee = fc.option(fc.oneof(fc.constantFrom(0, 0.05, 1), fc.double({ min: 0, max: 1, noNaN: true })));
const tokens = fc.nat(100_000);

describe('law: an amount pays for what it was made for', () => {
  const holds = (worst: WorstCost, n: number) => {
    expect(worst.tokensWithin(worst.amountOf(n))).toBeGreaterThanOrEqual(n);
  };

  it('for every price, fee and number of tokens', () => {
    fc.assert(
      fc.property(prices, fee, tokens, tokens, (pricing, share, promptTokens, n) => {
        holds(cost(pricing, { promptTokens, ...(share !== null && { byokFee: share }) }), n);
      }),
      { numRuns: 1000 },
    );
  });

  it('for every price that ships, with and without a fee', () => {
    for (const { endpoints } of allShippedModels().values()) {
      for (const { pricing } of endpoints) {
        for (const byokFee of [undefined, 0, 0.05, 0.055]) {
          const listed = Object.fromEntries(
            Object.entries(pricing ?? {}).filter(
              (entry): entry is [string, string] => typeof entry[1] === 'string',
            ),
          );
          for (const n of [0, 1, 2, 7, 16, 100, 333, 4096]) {
            holds(cost(listed, byokFee === undefined ? {} : { byokFee }), n);
          }
        }
      }
    }
  });
});

describe('law: what is reserved can pay', () => {
  it('for one of the candidates at least, whatever limits leave', () => {
    const headroom = fc.record({
      creditNanos: fc.option(fc.bigInt(0n, 10n ** 12n)),
      totalNanos: fc.option(fc.bigInt(0n, 10n ** 12n)),
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(prices, fee, fc.integer({ min: 1, max: 500 })), { minLength: 1, maxLength: 3 }),
        headroom,
        fc.option(fc.nat(500), { nil: undefined }),
        (candidates, affordable: Affordable, learnt) => {
          const costs = candidates.map(([pricing, share, requestedOutputTokens]) =>
            cost(pricing, {
              requestedOutputTokens,
              ...(share !== null && { byokFee: share }),
            }),
          );
          const size = sizeReservation(costs, { affordable, unspent: affordable }, learnt);
          if (size === null) return;
          const paid = costs.filter((each) => canPay(each, size.amount, size.leastTokens));
          if (size.kind === 'rest') expect(paid.length).toBeGreaterThan(0);
          else expect(paid).toHaveLength(costs.length);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('law: no bill is higher than what is reserved', () => {
  /** Two tiers of one endpoint, each with prices of its own for long prompts. */
  const tier = fc.record({ pricing: prices, long: prices, from: tokens });
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const parts = fc.record({
    cached: share,
    written: share,
    written1h: share,
    reasoning: share,
    image: share,
  });

  it('for every usage within the bounds that were sent upstream: files, searches, cache writes, tiers', () => {
    fc.assert(
      fc.property(
        fc.tuple(tier, tier),
        fee,
        fc.record({
          promptTokens: tokens,
          inputImages: fc.nat(3),
          mayFillContext: fc.boolean(),
          mayCompact: fc.boolean(),
          namesRegion: fc.boolean(),
        }),
        fc.record({ asked: fc.nat(12), isBoundable: fc.boolean(), most: fc.nat(12) }),
        fc.record({ input: share, output: share, searches: share }),
        parts,
        fc.constantFrom(undefined, 'default', 'priority'),
        ([standard, priority], byokFee, given, searching, used, part, servedTier) => {
          const provider = providerOf({ slug: 'p' });
          const endpoints = [standard, priority].map(({ pricing, long, from }, index) =>
            endpointOf({
              provider,
              tag: index === 0 ? 'p' : 'p/priority',
              contextLength: 300_000,
              maxOutputTokens: 5000,
              priceLists: priceListsOf({
                pricing: { ...pricing, overrides: [{ min_prompt_tokens: from, ...long }] as never },
              }),
            }),
          );
          const candidate: Candidate = {
            model: modelOf({ endpoints }),
            endpoint: endpoints[0]!,
            access: byokFee === null ? { kind: 'shared' } : byok,
            lane: 'translate',
          };
          const worst = new WorstCost(candidate, {
            ...FACTS,
            ...given,
            byokFee: byokFee ?? 0,
            toolsAsked: () => toolsOf(searching.asked, searching.isBoundable),
            mostCalls: searching.most,
          });
          const inputTokens = Math.floor(worst.promptTokens * used.input);
          const outputTokens = Math.floor(worst.fullTokens * used.output);
          const usage: Usage = {
            inputTokens,
            cachedTokens: Math.floor(inputTokens * part.cached),
            cacheWriteTokens: Math.floor(inputTokens * part.written),
            cacheWrite1hTokens: Math.floor(inputTokens * part.written1h),
            outputTokens,
            reasoningTokens: Math.floor(outputTokens * part.reasoning),
            imageTokens: Math.floor(outputTokens * part.image),
            webSearchRequests: Math.floor((worst.paidTools.units.web_search ?? 0) * used.searches),
            hosted: Object.fromEntries(
              HOSTED_PRICES.map((name) => [
                name,
                Math.floor((worst.paidTools.units[name] ?? 0) * used.searches),
              ]),
            ),
            inputImageTokens: Math.floor(inputTokens * part.image),
            ...(given.mayFillContext && {
              audioTokens: Math.floor(inputTokens * part.cached),
              cachedAudioTokens: Math.floor(inputTokens * part.cached * part.written),
            }),
            audioOutputTokens: Math.floor(outputTokens * part.image),
            ...(given.namesRegion && { isUsOnly: true }),
            source: 'measured',
          };
          const bill = billGeneration(
            candidate,
            usage,
            {
              acceptedAtMs: 0,
              inputImages: given.inputImages,
              byokFee: byokFee ?? 0,
              catalog: { models: [] },
            },
            servedTier,
          );
          const { creditNanos, byokNanos } = amountOf(bill);
          const reserved = worst.amountOf(worst.fullTokens);
          expect(creditNanos).toBeLessThanOrEqual(reserved.creditNanos);
          expect(byokNanos).toBeLessThanOrEqual(reserved.byokNanos);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
