import { describe, expect, it } from 'vitest';
import { endpointOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import {
  evenly,
  healthOf,
  planned,
  rejectionsOf,
  routeOf,
  tagsOf,
  wishing,
} from '../../../test/kit/builders/route.ts';
import { three, wide } from '../../../test/kit/builders/routed-models.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { planRoute } from '../plan-route.ts';
import type { Variant } from './routed-model.ts';

describe('service tiers', () => {
  const health = healthOf(wide.endpoints, {
    'acme/priority': { throughput: evenly(50) },
    'beta/priority': { throughput: evenly(80) },
    acme: { throughput: evenly(60) },
  });
  const plain = ['acme', 'acme/turbo', 'beta'];
  const prompt = ['beta/priority', 'acme/priority', ...plain];
  const flexible = ['beta/flex', 'acme/flex'];
  const cases: [string, Partial<GenerationRequest>, readonly Variant[], string[]][] = [
    ['auto', { serviceTier: 'auto' }, [], plain],
    ['scale', { serviceTier: 'scale' }, [], plain],
    ['priority: first, by throughput', { serviceTier: 'priority' }, [], prompt],
    ['fast is priority', { serviceTier: 'fast' }, [], prompt],
    ['so is fast as a speed', { speed: 'fast' }, [], prompt],
    ['but the tier decides', { speed: 'fast', serviceTier: 'default' }, [], plain],
    ['standard speed', { speed: 'standard' }, [], plain],
    ['flex: nothing else, by price', { serviceTier: 'flex' }, [], flexible],
    [
      'nitro: admits priority, by throughput',
      {},
      ['nitro'],
      ['beta/priority', 'acme', 'acme/priority', 'acme/turbo', 'beta'],
    ],
    ['floor: admits flex, by price', {}, ['floor'], [...flexible, ...plain]],
    ['default cancels that', { serviceTier: 'default' }, ['floor'], plain],
    [
      'so does an order',
      { wishes: { provider: { order: ['beta'] }, plugins: [] } },
      ['floor'],
      ['beta', 'acme', 'acme/turbo'],
    ],
    [
      'an explicit sort does not',
      { wishes: { provider: { sort: 'price' }, plugins: [] } },
      ['nitro'],
      ['acme', 'acme/turbo', 'acme/priority', 'beta/priority', 'beta'],
    ],
    [
      'a sort is for both halves of priority',
      { serviceTier: 'priority', wishes: { provider: { sort: 'price' }, plugins: [] } },
      [],
      ['acme/priority', 'beta/priority', ...plain],
    ],
    [
      'a full slug admits',
      { wishes: { provider: { only: ['acme/flex', 'beta'] }, plugins: [] } },
      [],
      ['acme/flex', 'beta'],
    ],
    [
      'flex, and no flex endpoint is left: no candidate',
      { serviceTier: 'flex', wishes: { provider: { only: ['acme'] }, plugins: [] } },
      [],
      [],
    ],
    [
      'flex, and a price limit leaves one',
      { serviceTier: 'flex', wishes: { provider: { max_price: { prompt: 1 } }, plugins: [] } },
      [],
      ['beta/flex'],
    ],
  ];
  it.each(cases)('%s', (_, changes, variants, tags) => {
    const models = [{ name: wide.id, model: wide, variants }];
    const plan = planRoute(routeOf([], { models, health, request: requestOf(changes) }));
    expect(tagsOf(plan)).toEqual(tags);
  });

  it('are a reason', () => {
    const reasons = (changes: Partial<GenerationRequest>) =>
      new Set(
        planRoute(routeOf([wide], { request: requestOf(changes) })).rejected.map(
          ({ filter, reason }) => `${filter}: ${reason}`,
        ),
      );
    expect(reasons({})).toEqual(
      new Set([
        'service_tier: the flex tier serves only on request',
        'service_tier: the priority tier serves only on request',
      ]),
    );
    expect(reasons({ serviceTier: 'flex' })).toContain(
      'service_tier: the flex tier is asked for, and others of the model have it',
    );
  });

  it('flex is requested and none is left: every endpoint has its reason', () => {
    const request = wishing({ only: ['beta'] }, { serviceTier: 'flex' });
    expect(rejectionsOf(planRoute(routeOf([wide], { request })))).toEqual([
      'acme: only',
      'acme/turbo: only',
      'acme/flex: only',
      'acme/priority: only',
      'beta/flex: only',
      'beta/priority: only',
      'beta: service_tier',
    ]);
  });

  it('flex endpoints of dormant providers do not count', () => {
    const elsewhere = endpointOf({
      provider: providerOf({ slug: 'delta', isDormant: true }),
      tag: 'delta/flex',
    });
    const request = requestOf({ serviceTier: 'flex' });
    expect(planned([...three, elsewhere], { request })).toEqual(['acme', 'beta', 'gamma']);
  });

  it('flex holds for a model that comes in two parts', () => {
    const part = (tier: boolean) => ({
      ...wide,
      endpoints: wide.endpoints.filter(({ tag }) => tag.endsWith('/flex') === tier),
    });
    const request = requestOf({ serviceTier: 'flex' });
    expect(tagsOf(planRoute(routeOf([part(true), part(false)], { request })))).toEqual(flexible);
  });

  it('load is balanced if the model has no endpoint of the tier', () => {
    for (const serviceTier of ['flex', 'priority']) {
      const request = requestOf({ serviceTier });
      expect(planned(three, { request, random: () => 0.999 })[0]).toBe('gamma');
    }
  });
});
