import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { requestOf } from '../../../test/kit/builders/request.ts';
import { byokCredentialOf, routeOf, wishing } from '../../../test/kit/builders/route.ts';
import { model, wide } from '../../../test/kit/builders/routed-models.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { planRoute } from '../plan-route.ts';
import { needsOf } from './needs.ts';
import { preferencesOf } from './preferences.ts';
import { servability } from './servability.ts';

const dormant = modelOf({
  endpoints: [endpointOf({ provider: providerOf({ slug: 'delta', isDormant: true }), tag: 'delta' })],
});
const flexible = modelOf({ endpoints: [endpointOf({ tag: 'acme/flex' })] });
const image = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } } as const;

const requests: [string, GenerationRequest][] = [
  ['plain', requestOf()],
  ['with only', wishing({ only: ['beta'] })],
  ['with an unknown name in only', wishing({ only: ['nobody'] })],
  ['with a price limit', wishing({ max_price: { prompt: 0.5 } })],
  ['zdr', wishing({ zdr: true })],
  ['flex', requestOf({ serviceTier: 'flex' })],
  ['flex, with only', wishing({ only: ['beta'] }, { serviceTier: 'flex' })],
  ['with an image', requestOf({ items: [{ type: 'message', role: 'user', content: [image] }] })],
];
const byok: [string, ByokCredential[]][] = [
  ['nothing', []],
  ['a key', [byokCredentialOf({ provider: 'delta', declaredZeroRetention: true })]],
  ['a key that is the only way', [byokCredentialOf({ isByokOnly: true, allowedModels: new Set() })]],
];

describe('servability', () => {
  const cases = requests.flatMap(([title, request]) =>
    byok.map(([brought, credentials]) => [title, brought, request, credentials] as const),
  );
  it.each(cases)(
    'agrees with the plan of a request %s, with %s brought along',
    (_, __, request, credentials) => {
      const serves = servability(needsOf(request), preferencesOf(request), credentials, []);
      for (const each of [model, wide, dormant, flexible]) {
        const { ranked } = planRoute(routeOf([each], { request, byok: credentials }));
        expect(each.endpoints.some((endpoint) => serves(endpoint, each))).toBe(ranked.length > 0);
      }
    },
  );

  it('ignores the requested output limit', () => {
    const endpoint = endpointOf({ maxOutputTokens: 10 });
    const request = requestOf({ requestedOutputTokens: 1000 });
    const serves = servability(needsOf(request), preferencesOf(request), [], []);
    expect(serves(endpoint, modelOf({ endpoints: [endpoint] }))).toBe(true);
  });
});
