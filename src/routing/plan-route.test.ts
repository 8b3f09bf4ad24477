import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../test/kit/builders/catalog.ts';
import { requestOf } from '../../test/kit/builders/request.ts';
import { byokCredentialOf, healthOf, routeOf, wishing } from '../../test/kit/builders/route.ts';
import { acme, beta, gamma, model, priced } from '../../test/kit/builders/routed-models.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { EndpointHealth } from './health/endpoint-health.ts';
import { planRoute } from './plan-route.ts';
import { type RankedCandidate, SHARED, siteOf } from './rules/candidate.ts';

describe('the report', () => {
  const reportFor = (provider: JsonObject, route?: 'fallback' | 'sort') =>
    planRoute(
      routeOf([model], {
        request: requestOf({ wishes: { provider, plugins: [], ...(route && { route }) } }),
      }),
    ).report;

  it('reports names that match no endpoint', () => {
    expect(reportFor({ order: ['beta', 'Nobody'], only: ['acme', 'beta'], ignore: ['delta'] })).toEqual([
      {
        field: 'provider.order',
        action: 'dropped',
        detail: 'no endpoint of the requested models is named "nobody"',
      },
      {
        field: 'provider.ignore',
        action: 'dropped',
        detail: 'no endpoint of the requested models is named "delta"',
      },
    ]);
    const many = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    expect(reportFor({ ignore: many })[0]?.detail).toContain('"n4" and 995 more');
  });

  it('reports a route that the partition contradicts', () => {
    expect(reportFor({ sort: { partition: 'model' } }, 'sort')).toMatchObject([{ field: 'route' }]);
    expect(reportFor({ sort: { partition: 'none' } }, 'sort')).toEqual([]);
    expect(reportFor({}, 'sort')).toEqual([]);
  });
});

describe('laws', () => {
  const tags = ['acme', 'acme/turbo', 'acme/flex', 'acme/priority', 'beta', 'beta/flex', 'gamma'];
  const endpoint = fc
    .record({
      tag: fc.constantFrom(...tags),
      price: fc.integer({ min: 0, max: 5 }),
      parameters: fc.option(fc.subarray(['tools', 'verbosity']), { nil: undefined }),
      maxOutputTokens: fc.option(fc.constantFrom(10, 1000), { nil: undefined }),
    })
    .map(({ tag, price, parameters, maxOutputTokens }) =>
      endpointOf({
        tag,
        provider: [acme, beta, gamma].find(({ slug }) => tag.startsWith(slug)) ?? acme,
        pricing: priced(price),
        supportedParameters: parameters && new Set(parameters),
        maxOutputTokens,
      }),
    );
  const models = fc
    .array(fc.uniqueArray(endpoint, { maxLength: 6, selector: ({ tag }) => tag }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((lists) =>
      lists.map((endpoints, index) => {
        const id = `acme/m${index}`;
        return modelOf({
          id,
          endpoints: endpoints.map((each) => ({ ...each, modelId: id, site: `${id} ${each.tag}` })),
        });
      }),
    );
  const names = fc.subarray([...tags, 'nobody']);
  const provider = fc.record(
    {
      order: names,
      only: names,
      ignore: names,
      allow_fallbacks: fc.boolean(),
      zdr: fc.boolean(),
      sort: fc.oneof(
        fc.constantFrom('price', 'throughput'),
        fc.record({ partition: fc.constantFrom('model', 'none') }),
      ),
      max_price: fc.record({ prompt: fc.integer({ min: 0, max: 5 }) }),
    },
    { requiredKeys: [] },
  );
  const byok = fc.uniqueArray(
    fc
      .record({
        id: fc.constantFrom('k1', 'k2', 'k3'),
        provider: fc.constantFrom('acme', 'beta'),
        isFallback: fc.boolean(),
        isRequired: fc.boolean(),
        declaredZeroRetention: fc.constantFrom(true, false, null),
      })
      .map(byokCredentialOf),
    { selector: ({ id }) => id },
  );
  const states = fc.dictionary(
    fc.constantFrom(...tags),
    fc.record({
      state: fc.constantFrom('ok', 'cooling', 'probing'),
      isUnstable: fc.boolean(),
      pausedUntilMs: fc.constantFrom(0, 1),
    }),
  );
  const input = fc
    .record({
      models,
      provider,
      byok,
      states,
      serviceTier: fc.constantFrom('auto', 'default', 'flex', 'priority'),
      requestedOutputTokens: fc.constantFrom(5, 500, 5000),
      isPinned: fc.boolean(),
      point: fc.double({ min: 0, max: 0.999, noNaN: true }),
    })
    .map((drawn) => {
      const endpoints = drawn.models.flatMap((each) => each.endpoints);
      const pinned = drawn.isPinned ? endpoints.at(-1) : undefined;
      return routeOf(drawn.models, {
        request: wishing(drawn.provider as JsonObject, {
          serviceTier: drawn.serviceTier,
          requestedOutputTokens: drawn.requestedOutputTokens,
          tools: [{ type: 'function', name: 'weather' }],
        }),
        byok: drawn.byok,
        health: healthOf(endpoints, drawn.states as Record<string, Partial<EndpointHealth>>),
        pin: pinned && siteOf(pinned, SHARED),
        random: () => drawn.point,
      });
    });

  const siteOfCandidate = ({ endpoint: each, access }: RankedCandidate) => siteOf(each, access);

  it('every candidate is either ranked once or rejected', () => {
    fc.assert(
      fc.property(input, (route) => {
        const { ranked, rejected } = planRoute(route);
        const sites = ranked.map(siteOfCandidate);
        expect(new Set(sites).size).toBe(sites.length);
        const turnedDown = new Set(rejected.map((rejection) => rejection.endpoint));
        for (const { model: each } of route.models) {
          for (const one of each.endpoints) {
            const copies = [
              SHARED,
              ...route.byok
                .filter((credential) => credential.provider === one.provider.slug)
                .map((credential) => ({ kind: 'byok', credential }) as const),
            ];
            const missing = copies.filter((access) => !sites.includes(siteOf(one, access)));
            expect(missing.length === 0 || turnedDown.has(one)).toBe(true);
            expect(missing.length > 0 || !turnedDown.has(one)).toBe(true);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('no cooling or paused candidate comes before one that may be called', () => {
    fc.assert(
      fc.property(input, (route) => {
        const absent = planRoute(route).ranked.map((candidate) => {
          const { state, pausedUntilMs } = route.health.of(siteOfCandidate(candidate));
          return state === 'cooling' ? 2 : pausedUntilMs > 0 ? 1 : 0;
        });
        expect(absent).toEqual([...absent].sort());
      }),
      { numRuns: 300 },
    );
  });

  it('shares of a draw add up to 1', () => {
    fc.assert(
      fc.property(input, (route) => {
        // Without fallbacks only who was drawn is left.
        fc.pre(route.request.wishes.provider.allow_fallbacks !== false);
        for (const { model: each } of route.models) {
          const drawn = planRoute(route).ranked.filter(
            (candidate) => candidate.model === each && candidate.weight !== undefined,
          );
          const sum = drawn.reduce((total, { weight = 0 }) => total + weight, 0);
          if (drawn.length > 0) expect(sum).toBeCloseTo(1);
        }
      }),
      { numRuns: 200 },
    );
  });
});
