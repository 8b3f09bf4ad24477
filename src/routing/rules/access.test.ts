import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import {
  byokCredentialOf,
  evenly,
  planned,
  rejectionsOf,
  routeOf,
  tagsOf,
  wishing,
} from '../../../test/kit/builders/route.ts';
import { model, three } from '../../../test/kit/builders/routed-models.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { UNTRIED } from '../health/endpoint-health.ts';
import { planRoute, type RouteInput } from '../plan-route.ts';
import { SHARED, siteOf } from './candidate.ts';

describe('BYOK credentials', () => {
  const mine = byokCredentialOf({ id: 'mine', provider: 'gamma' });
  const spare = byokCredentialOf({ id: 'spare', provider: 'beta', isFallback: true });
  const second = byokCredentialOf({ id: 'second', provider: 'gamma', sortOrder: 1 });
  const betas = byokCredentialOf({ id: 'betas', provider: 'beta' });

  const cases: [string, Partial<RouteInput>, string[]][] = [
    [
      'first, then shared ones, then spare ones',
      { byok: [spare, mine] },
      ['mine@gamma', 'acme', 'beta', 'gamma', 'spare@beta'],
    ],
    [
      'by provider, then as sorted',
      { byok: [second, mine, betas] },
      ['betas@beta', 'mine@gamma', 'second@gamma', 'acme', 'beta', 'gamma'],
    ],
    [
      'even against an order, in the order of the list',
      { byok: [betas, mine], request: wishing({ order: ['acme', 'gamma'] }) },
      ['mine@gamma', 'betas@beta', 'acme', 'gamma', 'beta'],
    ],
    [
      'with an order and no fallbacks: the listed ones',
      { byok: [betas, mine], request: wishing({ order: ['acme', 'gamma'], allow_fallbacks: false }) },
      ['mine@gamma', 'acme', 'gamma'],
    ],
    [
      'without fallbacks: the first',
      { byok: [mine], request: wishing({ allow_fallbacks: false }) },
      ['mine@gamma'],
    ],
    [
      'for other models',
      { byok: [{ ...mine, allowedModels: new Set(['acme/other']) }] },
      ['acme', 'beta', 'gamma'],
    ],
    [
      'for this model',
      { byok: [{ ...mine, allowedModels: new Set(['acme/large']) }] },
      ['mine@gamma', 'acme', 'beta', 'gamma'],
    ],
    ['for other providers', { byok: [{ ...mine, provider: 'delta' }] }, ['acme', 'beta', 'gamma']],
    ['required', { byok: [{ ...mine, isRequired: true }] }, ['mine@gamma', 'acme', 'beta']],
    [
      'required, and others of the provider',
      { byok: [{ ...mine, isRequired: true }, second] },
      ['mine@gamma', 'second@gamma', 'acme', 'beta'],
    ],
    [
      'required for other models',
      { byok: [{ ...mine, isRequired: true, allowedModels: new Set(['acme/other']) }] },
      ['acme', 'beta', 'gamma'],
    ],
    [
      'the only way, for every model',
      { byok: [{ ...mine, isByokOnly: true, allowedModels: new Set(['acme/other']) }] },
      ['acme', 'beta'],
    ],
    ['are no way around only', { byok: [mine], request: wishing({ only: ['acme'] }) }, ['acme']],
    [
      'are no way around data policies',
      { byok: [mine], request: wishing({ data_collection: 'deny' }) },
      ['acme'],
    ],
    ['are not zero retention by themselves', { byok: [mine], request: wishing({ zdr: true }) }, ['acme']],
    [
      'are zero retention if declared so',
      { byok: [{ ...mine, declaredZeroRetention: true }], request: wishing({ zdr: true }) },
      ['mine@gamma', 'acme'],
    ],
    [
      'but that is not to say that nothing is collected',
      {
        byok: [{ ...mine, declaredZeroRetention: true }],
        request: wishing({ zdr: true, data_collection: 'deny' }),
      },
      ['acme'],
    ],
    [
      'are not zero retention if declared so',
      {
        byok: [{ ...mine, provider: 'acme', declaredZeroRetention: false }],
        request: wishing({ zdr: true }),
      },
      ['acme'],
    ],
    [
      'stay before a pin on a shared endpoint',
      { byok: [mine], pin: siteOf(three[0], SHARED) },
      ['mine@gamma', 'beta', 'acme', 'gamma'],
    ],
    [
      'may be pinned themselves',
      { byok: [mine, second], pin: siteOf(three[1], { kind: 'byok', credential: second }) },
      ['second@gamma', 'mine@gamma', 'acme', 'beta', 'gamma'],
    ],
  ];
  it.each(cases)('%s', (_, changes, tags) => {
    expect(planned(three, changes)).toEqual(tags);
  });

  it('follow a sort among themselves', () => {
    const site = siteOf(three[1], { kind: 'byok', credential: mine });
    const health = {
      of: (each: string) => (each === site ? { ...UNTRIED, throughput: evenly(50) } : UNTRIED),
    };
    const request = wishing({ sort: 'throughput' });
    expect(planned(three, { byok: [betas, mine], health, request }).slice(0, 2)).toEqual([
      'mine@gamma',
      'betas@beta',
    ]);
  });

  it('leave the shared endpoints their draw', () => {
    expect(planned(three, { byok: [mine, spare], random: () => 0.999 })).toEqual([
      'mine@gamma',
      'gamma',
      'acme',
      'beta',
      'spare@beta',
    ]);
  });

  it('count as endpoints of their byok: one may cool down alone', () => {
    const site = siteOf(three[1], { kind: 'byok', credential: mine });
    const health = {
      of: (each: string) => (each === site ? { ...UNTRIED, state: 'cooling' as const } : UNTRIED),
    };
    expect(planned(three, { byok: [mine], health })).toEqual(['acme', 'beta', 'gamma', 'mine@gamma']);
  });

  it('keep shared endpoints out with a reason', () => {
    const plan = (byok: RouteInput['byok'], provider: JsonObject = {}) =>
      planRoute(routeOf([model], { byok, request: wishing(provider) }));
    expect(rejectionsOf(plan([{ ...mine, isRequired: true }]))).toEqual(['gamma: byok']);
    expect(rejectionsOf(plan([mine, second], { only: ['acme', 'beta'] }))).toEqual(['gamma: only']);
    const declared = plan([{ ...mine, provider: 'acme', declaredZeroRetention: false }], {
      zdr: true,
      only: ['acme'],
    });
    expect(declared.rejected.at(-1)).toMatchObject({
      endpoint: three[2],
      filter: 'zdr',
      reason: 'the BYOK credential is declared to retain prompts',
    });
  });

  it('open providers for which the gateway has no credential', () => {
    const dormant = endpointOf({ provider: providerOf({ slug: 'delta', isDormant: true }), tag: 'delta' });
    const plan = (byok: RouteInput['byok']) =>
      planRoute(routeOf([modelOf({ endpoints: [dormant] })], { byok }));
    expect(plan([]).rejected).toEqual([
      { endpoint: dormant, filter: 'credentials', reason: 'the gateway has no credential for it' },
    ]);
    const opened = plan([{ ...mine, provider: 'delta' }]);
    expect(tagsOf(opened)).toEqual(['mine@delta']);
    expect(opened.rejected).toEqual([]);
  });
});
