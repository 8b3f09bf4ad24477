import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { evenly, healthOf, planned, routeOf, tagsOf, wishing } from '../../../test/kit/builders/route.ts';
import { acme, model, priced, three, wide } from '../../../test/kit/builders/routed-models.ts';
import type { Endpoint } from '../../catalog/catalog.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { EndpointHealth } from '../health/endpoint-health.ts';
import { planRoute, type RouteInput, type RoutePlan } from '../plan-route.ts';
import { SHARED, siteOf } from '../rules/candidate.ts';
import type { Variant } from '../rules/routed-model.ts';

describe('the default order', () => {
  const firstOf = (changes: Partial<RouteInput>) => planRoute(routeOf([model], changes)).ranked[0];

  it('draws the first by 1/price^2, and the rest follows cheaper first', () => {
    const total = 1 + 1 / 4 + 1 / 9;
    const draws = new Map(
      [0, 1 / total - 0.001, 1 / total + 0.001, 1.25 / total + 0.001, 0.999_999].map((point) => [
        point,
        tagsOf(planRoute(routeOf([model], { random: () => point }))),
      ]),
    );
    expect([...draws.values()]).toEqual([
      ['acme', 'beta', 'gamma'],
      ['acme', 'beta', 'gamma'],
      ['beta', 'acme', 'gamma'],
      ['gamma', 'acme', 'beta'],
      ['gamma', 'acme', 'beta'],
    ]);
    expect(firstOf({})?.weight).toBeCloseTo(1 / total);
    expect(firstOf({ random: () => 0.999 })?.weight).toBeCloseTo(1 / 9 / total);
  });

  it('is that of the contract: of prices 1, 2 and 3 the 2 is unstable', () => {
    const health = healthOf(three, { beta: { isUnstable: true } });
    const { ranked } = planRoute(routeOf([model], { health }));
    expect(ranked.map(({ endpoint, weight }) => [endpoint.tag, weight])).toEqual([
      ['acme', expect.closeTo(0.9)],
      ['gamma', expect.closeTo(0.1)],
      ['beta', undefined],
    ]);
  });

  it('puts free endpoints first, drawn evenly', () => {
    const free = (tag: string) => endpointOf({ tag, pricing: {} });
    const endpoints = [...three, free('x'), free('y')];
    const plan = (point: number) =>
      planRoute(routeOf([modelOf({ endpoints })], { random: () => point })).ranked;
    expect(plan(0.49).map(({ endpoint, weight }) => [endpoint.tag, weight])).toEqual([
      ['x', 0.5],
      ['y', 0.5],
      ['acme', undefined],
      ['beta', undefined],
      ['gamma', undefined],
    ]);
    expect(plan(0.5)[0]?.endpoint.tag).toBe('y');
  });

  it('is drawn among deferred candidates if there are no others', () => {
    const asked = { deferredUntilMs: 1 };
    const health = healthOf(three, { acme: asked, beta: asked, gamma: asked });
    expect(firstOf({ health, random: () => 0.999 })?.endpoint.tag).toBe('gamma');
  });

  it('draws nothing if there is only one endpoint', () => {
    const [only] = planRoute(routeOf([modelOf()])).ranked;
    expect(only).toMatchObject({ isSticky: false });
    expect(only?.weight).toBeUndefined();
  });

  it('with tools, puts endpoints with bad tool calls behind the others, unless there is a sort', () => {
    const health = healthOf(three, { acme: { toolErrorRate: 0.1 }, beta: { toolErrorRate: 0.09 } });
    const tools = [{ type: 'function', name: 'weather' }] as const;
    expect(planned(three, { health, request: wishing({}, { tools }) })).toEqual(['beta', 'gamma', 'acme']);
    expect(planned(three, { health })[0]).toBe('acme');
    expect(planned(three, { health, request: wishing({ sort: 'price' }, { tools }) })[0]).toBe('acme');
  });
});

describe('order', () => {
  const cases: [string, JsonObject, string[]][] = [
    ['the listed ones, then the rest by price', { order: ['gamma'] }, ['gamma', 'acme', 'beta']],
    ['in the order of the list', { order: ['gamma', 'Beta Cloud'] }, ['gamma', 'beta', 'acme']],
    ['unknown names are passed over', { order: ['nobody', 'beta'] }, ['beta', 'acme', 'gamma']],
    ['with a sort for the rest', { order: ['acme'], sort: 'latency' }, ['acme', 'gamma', 'beta']],
    [
      'without fallbacks: the listed ones',
      { order: ['gamma', 'acme'], allow_fallbacks: false },
      ['gamma', 'acme'],
    ],
    ['without fallbacks and unknown', { order: ['nobody'], allow_fallbacks: false }, []],
    ['no order, no fallbacks: the first', { allow_fallbacks: false }, ['acme']],
    ['an empty order is none', { order: [], allow_fallbacks: false }, ['acme']],
    [
      'only decides who is there at all',
      { order: ['gamma', 'acme'], only: ['beta', 'acme'] },
      ['acme', 'beta'],
    ],
  ];
  const health = healthOf(three, { beta: { latency: evenly(200) }, gamma: { latency: evenly(100) } });
  it.each(cases)('%s', (_, provider, tags) => {
    expect(planned(three, { request: wishing(provider), health })).toEqual(tags);
  });

  it('names one endpoint by its full slug, and several by the base slug', () => {
    const order = (...names: string[]) =>
      tagsOf(planRoute(routeOf([wide], { request: wishing({ order: names }) })));
    expect(order('acme/turbo')).toEqual(['acme/turbo', 'acme', 'beta']);
    expect(order('beta', 'acme')).toEqual(['beta', 'acme', 'acme/turbo']);
    expect(order('acme/flex', 'beta')).toEqual(['acme/flex', 'beta', 'acme', 'acme/turbo']);
  });

  it('draws nothing', () => {
    const request = wishing({ order: ['gamma'] });
    const { ranked } = planRoute(routeOf([model], { request, random: () => 0.999 }));
    expect(tagsOf({ ranked })).toEqual(['gamma', 'acme', 'beta']);
    expect(ranked.every(({ weight }) => weight === undefined)).toBe(true);
  });

  it('holds for an unstable candidate, not for a cooling or deferred one', () => {
    const request = wishing({ order: ['gamma', 'beta', 'acme'] });
    const plan = (gammas: Partial<EndpointHealth>, betas: Partial<EndpointHealth> = {}) =>
      planned(three, { request, health: healthOf(three, { gamma: gammas, beta: betas }) });
    expect(plan({ isUnstable: true })).toEqual(['gamma', 'beta', 'acme']);
    expect(plan({ state: 'probing' })).toEqual(['gamma', 'beta', 'acme']);
    expect(plan({ state: 'cooling' })).toEqual(['beta', 'acme', 'gamma']);
    expect(plan({ pausedUntilMs: 1 })).toEqual(['beta', 'acme', 'gamma']);
    expect(plan({ deferredUntilMs: 1 })).toEqual(['beta', 'acme', 'gamma']);
    expect(plan({ state: 'cooling' }, { pausedUntilMs: 1 })).toEqual(['acme', 'beta', 'gamma']);
    expect(plan({ pausedUntilMs: 1 }, { deferredUntilMs: 1 })).toEqual(['acme', 'beta', 'gamma']);
    expect(plan({ deferredUntilMs: 1, state: 'cooling' }, { pausedUntilMs: 1 })).toEqual([
      'acme',
      'beta',
      'gamma',
    ]);
  });

  it('without fallbacks, rejects the others with a reason', () => {
    const plan = planRoute(routeOf([model], { request: wishing({ allow_fallbacks: false }) }));
    expect(plan.rejected).toEqual([
      { endpoint: three[0], filter: 'allow_fallbacks', reason: 'provider.allow_fallbacks is false' },
      { endpoint: three[1], filter: 'allow_fallbacks', reason: 'provider.allow_fallbacks is false' },
    ]);
  });

  it('without fallbacks, takes the first that may be called, of every model', () => {
    const other = modelOf({
      id: 'acme/other',
      endpoints: [endpointOf({ tag: 'x' }), endpointOf({ tag: 'y' })],
    });
    const request = wishing({ allow_fallbacks: false });
    const health = healthOf(three, { acme: { state: 'cooling' } });
    expect(tagsOf(planRoute(routeOf([model, other], { request, health })))).toEqual(['beta', 'x']);
  });
});

describe('sort', () => {
  const health = healthOf(three, {
    acme: { throughput: evenly(10), latency: evenly(300), toolErrorRate: 0.3 },
    beta: { throughput: evenly(90), latency: evenly(100), toolErrorRate: 0.01 },
  });
  const cases: [string, JsonObject, readonly Variant[], string[]][] = [
    ['price', { sort: 'price' }, [], ['acme', 'beta', 'gamma']],
    ['throughput, who was never measured last', { sort: 'throughput' }, [], ['beta', 'acme', 'gamma']],
    ['latency, who was never measured last', { sort: 'latency' }, [], ['beta', 'acme', 'gamma']],
    ['tool calls: good, unknown, bad', { sort: 'exacto' }, [], ['beta', 'gamma', 'acme']],
    ['as an object', { sort: { by: 'throughput' } }, [], ['beta', 'acme', 'gamma']],
    ['nitro', {}, ['nitro'], ['beta', 'acme', 'gamma']],
    ['floor', {}, ['floor'], ['acme', 'beta', 'gamma']],
    ['exacto', {}, ['exacto'], ['beta', 'gamma', 'acme']],
    ['an explicit sort wins over the suffix', { sort: 'price' }, ['nitro'], ['acme', 'beta', 'gamma']],
    ['the last of two suffixes counts', {}, ['floor', 'nitro'], ['beta', 'acme', 'gamma']],
    [
      'a partition alone sorts by nothing else',
      { sort: { partition: 'model' } },
      ['nitro'],
      ['beta', 'acme', 'gamma'],
    ],
  ];
  it.each(cases)('%s', (_, provider, variants, tags) => {
    const models = [{ name: model.id, model, variants }];
    const plan = planRoute(routeOf([], { models, health, request: wishing(provider), random: () => 0.999 }));
    expect(tagsOf(plan)).toEqual(tags);
    expect(plan.ranked.every(({ weight }) => weight === undefined)).toBe(true);
  });

  it('puts unstable endpoints last', () => {
    const shaky = healthOf(three, { acme: { isUnstable: true } });
    expect(planned(three, { health: shaky, request: wishing({ sort: 'price' }) })).toEqual([
      'beta',
      'gamma',
      'acme',
    ]);
  });
});

describe('partition', () => {
  const cheap = modelOf({
    id: 'acme/cheap',
    endpoints: [
      endpointOf({ modelId: 'acme/cheap', provider: acme, tag: 'low', pricing: priced(0.5) }),
      endpointOf({ modelId: 'acme/cheap', provider: acme, tag: 'high', pricing: priced(2.5) }),
    ],
  });
  const together = ['low', 'acme', 'beta', 'high', 'gamma'];
  const apart = ['acme', 'beta', 'gamma', 'low', 'high'];
  const cases: [string, JsonObject, 'fallback' | 'sort' | undefined, string[]][] = [
    ['by model unless told otherwise', { sort: 'price' }, undefined, apart],
    ['by model', { sort: { by: 'price', partition: 'model' } }, undefined, apart],
    ['none', { sort: { by: 'price', partition: 'none' } }, undefined, together],
    ['none, by price if nothing is said', { sort: { partition: 'none' } }, undefined, together],
    ['none, the old way', {}, 'sort', together],
    ['none, the old way with a sort', { sort: 'price' }, 'sort', together],
    ['by model, the old way', { sort: 'price' }, 'fallback', apart],
    ['the new way wins', { sort: { by: 'price', partition: 'model' } }, 'sort', apart],
  ];
  it.each(cases)('%s', (_, provider, route, tags) => {
    const request = requestOf({ wishes: { provider, plugins: [], ...(route && { route }) } });
    expect(tagsOf(planRoute(routeOf([model, cheap], { request, random: () => 0 })))).toEqual(tags);
  });

  it('none: by measurements of all models', () => {
    const health = healthOf([...three, ...cheap.endpoints], {
      high: { throughput: evenly(50) },
      gamma: { throughput: evenly(70) },
    });
    const request = wishing({ sort: { by: 'throughput', partition: 'none' } });
    expect(tagsOf(planRoute(routeOf([model, cheap], { request, health })))).toEqual([
      'gamma',
      'high',
      'low',
      'acme',
      'beta',
    ]);
  });

  it('none: by price if nothing is said, whatever was measured', () => {
    const health = healthOf(three, { gamma: { throughput: evenly(70), latency: evenly(1) } });
    const request = wishing({ sort: { partition: 'none' } });
    expect(tagsOf(planRoute(routeOf([model, cheap], { request, health })))).toEqual(together);
  });

  it('none: by the suffix where there is no sort', () => {
    const health = healthOf(cheap.endpoints, { high: { throughput: evenly(50) } });
    const request = wishing({ sort: { partition: 'none' } });
    const models = [
      { name: model.id, model, variants: [] },
      { name: cheap.id, model: cheap, variants: ['nitro'] as const },
    ];
    expect(tagsOf(planRoute(routeOf([], { models, request, health })))[0]).toBe('high');
  });

  it('by model: draws for each model', () => {
    const points = [0.999, 0.999];
    const random = () => points.shift() ?? 0;
    expect(tagsOf(planRoute(routeOf([model, cheap], { random })))).toEqual([
      'gamma',
      'acme',
      'beta',
      'high',
      'low',
    ]);
  });

  it('never puts a cooling candidate before a candidate of a later model', () => {
    const health = healthOf(three, {
      acme: { state: 'cooling' },
      beta: { pausedUntilMs: 5 },
      gamma: { state: 'cooling' },
    });
    expect(tagsOf(planRoute(routeOf([model, cheap], { health })))).toEqual([
      'low',
      'high',
      'beta',
      'acme',
      'gamma',
    ]);
  });
});

describe('thresholds', () => {
  const health = healthOf(three, {
    acme: { throughput: { p50: 100, p75: 60, p90: 20, p99: 5 }, latency: evenly(2000) },
    beta: { throughput: evenly(50), latency: { p50: 300, p75: 500, p90: 1500, p99: 9000 } },
  });
  const cases: [string, JsonObject, string[]][] = [
    ['met by all', { preferred_min_throughput: 50 }, ['acme', 'beta', 'gamma']],
    ['missed at the median', { preferred_min_throughput: 51 }, ['acme', 'gamma', 'beta']],
    ['missed at another percentile', { preferred_min_throughput: { p90: 21 } }, ['beta', 'gamma', 'acme']],
    ['latency that is met exactly', { preferred_max_latency: 2 }, ['acme', 'beta', 'gamma']],
    ['latency is in seconds', { preferred_max_latency: 1.9 }, ['beta', 'gamma', 'acme']],
    ['latency at a percentile', { preferred_max_latency: { p90: 1.4 } }, ['gamma', 'acme', 'beta']],
    ['any of them', { preferred_min_throughput: { p50: 40, p99: 6 } }, ['beta', 'gamma', 'acme']],
    [
      'both kinds',
      { preferred_min_throughput: { p90: 21 }, preferred_max_latency: { p99: 1 } },
      ['gamma', 'acme', 'beta'],
    ],
    ['within a sort', { preferred_max_latency: 1, sort: 'throughput' }, ['beta', 'gamma', 'acme']],
    ['an order is above them', { preferred_max_latency: 1, order: ['acme'] }, ['acme', 'beta', 'gamma']],
  ];
  it.each(cases)('%s', (_, provider, tags) => {
    expect(planned(three, { request: wishing(provider), health })).toEqual(tags);
  });
});

describe('stickiness', () => {
  const pin = siteOf(three[1], SHARED);
  const sticky = (changes: Partial<RouteInput> = {}) => planRoute(routeOf([model], { pin, ...changes }));
  const stuck = ({ ranked }: RoutePlan) =>
    ranked.filter(({ isSticky }) => isSticky).map(({ endpoint }) => endpoint.tag);

  it('puts the pinned endpoint first, without a draw', () => {
    const plan = sticky({ random: () => 0.5 });
    expect(tagsOf(plan)).toEqual(['gamma', 'acme', 'beta']);
    expect(stuck(plan)).toEqual(['gamma']);
  });

  const cases: [string, Partial<RouteInput>, string[], string[]][] = [
    [
      'beats instability',
      { health: healthOf(three, { gamma: { isUnstable: true } }) },
      ['gamma', 'acme', 'beta'],
      ['gamma'],
    ],
    [
      'yields to a cool-down',
      { health: healthOf(three, { gamma: { state: 'cooling' } }) },
      ['acme', 'beta', 'gamma'],
      [],
    ],
    [
      'yields to a deferral',
      { health: healthOf(three, { gamma: { deferredUntilMs: 9 } }) },
      ['acme', 'beta', 'gamma'],
      [],
    ],
    [
      'yields to a pause',
      { health: healthOf(three, { gamma: { pausedUntilMs: 9 } }) },
      ['acme', 'beta', 'gamma'],
      [],
    ],
    ['beats a sort', { request: wishing({ sort: 'price' }) }, ['gamma', 'acme', 'beta'], ['gamma']],
    ['yields to an order', { request: wishing({ order: ['beta'] }) }, ['beta', 'acme', 'gamma'], []],
    ['yields to a filter', { request: wishing({ max_price: { prompt: 2 } }) }, ['acme', 'beta'], []],
    ['is nothing when unknown', { pin: 'elsewhere' }, ['acme', 'beta', 'gamma'], []],
    ['without fallbacks, is the one', { request: wishing({ allow_fallbacks: false }) }, ['gamma'], ['gamma']],
  ];
  it.each(cases)('%s', (_, changes, tags, pinned) => {
    const plan = sticky(changes);
    expect(tagsOf(plan)).toEqual(tags);
    expect(stuck(plan)).toEqual(pinned);
  });

  it('stays within its model', () => {
    const other = modelOf({ id: 'acme/other', endpoints: [endpointOf({ modelId: 'acme/other', tag: 'x' })] });
    expect(tagsOf(planRoute(routeOf([other, model], { pin })))).toEqual(['x', 'gamma', 'acme', 'beta']);
  });
});

describe('reasoning custody', () => {
  const sealed = (changes: Partial<GenerationRequest> = {}) =>
    requestOf({
      ...changes,
      items: [
        { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello' }] },
        { type: 'reasoning', text: [], summary: [], encrypted: 'xyz', format: 'openai-responses-v1' },
        { type: 'message', role: 'user', content: [{ type: 'text', text: 'And?' }] },
      ],
    });
  const cases: [string, Partial<RouteInput>, string[]][] = [
    ['beats price', { random: () => 0.999 }, ['beta', 'acme', 'gamma']],
    [
      'beats a sort',
      { request: sealed({ wishes: { provider: { sort: 'price' }, plugins: [] } }) },
      ['beta', 'acme', 'gamma'],
    ],
    ['beats a pin', { pin: siteOf(three[1], SHARED) }, ['beta', 'gamma', 'acme']],
    [
      'holds while it is healthy',
      { health: healthOf(three, { beta: { isUnstable: true } }) },
      ['acme', 'gamma', 'beta'],
    ],
    [
      'yields to a pin while it is not',
      { health: healthOf(three, { beta: { isUnstable: true } }), pin: siteOf(three[1], SHARED) },
      ['gamma', 'acme', 'beta'],
    ],
    [
      'leaves a shaky endpoint its pin',
      { health: healthOf(three, { beta: { isUnstable: true } }), pin: siteOf(three[0], SHARED) },
      ['beta', 'acme', 'gamma'],
    ],
    [
      'decides among those that are shaky',
      { health: healthOf(three, { acme: { isUnstable: true }, beta: { isUnstable: true } }) },
      ['gamma', 'beta', 'acme'],
    ],
    [
      'does not call a deferred candidate',
      { health: healthOf(three, { beta: { deferredUntilMs: 1 } }) },
      ['acme', 'gamma', 'beta'],
    ],
    [
      'yields to an order',
      { request: sealed({ wishes: { provider: { order: ['gamma'] }, plugins: [] } }) },
      ['gamma', 'beta', 'acme'],
    ],
  ];
  it.each(cases)('%s', (_, changes, tags) => {
    expect(planned(three, { request: sealed(), ...changes })).toEqual(tags);
  });

  it('keeps the pin among candidates with custody, and calls no other sticky', () => {
    const keepers = [
      three[0],
      endpointOf({ provider: three[0].provider, tag: 'beta/eu', pricing: priced(9) }),
    ];
    const sticky = (pinned: Endpoint) =>
      planRoute(
        routeOf([modelOf({ endpoints: [...three.slice(1), ...keepers] })], {
          request: sealed(),
          pin: siteOf(pinned, SHARED),
        }),
      ).ranked.map(({ endpoint, isSticky }) => `${endpoint.tag}${isSticky ? ' sticky' : ''}`);
    expect(sticky(keepers[1] ?? three[0])[0]).toBe('beta/eu sticky');
    expect(sticky(three[1]).slice(0, 3)).toEqual(['beta', 'beta/eu', 'gamma']);
  });
});
