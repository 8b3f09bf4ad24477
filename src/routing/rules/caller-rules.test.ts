import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { guardrailOf } from '../../../test/kit/builders/guardrails.ts';
import { routeOf, tagsOf } from '../../../test/kit/builders/route.ts';
import { callerOf } from '../../../test/kit/builders/tenancy.ts';
import type { GuardrailSettings } from '../../ports/tenancy/guardrails.ts';
import { planRoute } from '../plan-route.ts';
import { callerFilters, isModelAllowed } from './caller-rules.ts';
import { SHARED } from './candidate.ts';
import { guardrailFilters } from './guardrail-rules.ts';

const model = (id: string, more: object = {}) =>
  modelOf({
    id,
    endpoints: [endpointOf({ tag: id, site: id, provider: providerOf({ slug: 'acme', name: 'Acme' }) })],
    ...more,
  });

const callerWith = (allowedModels: readonly string[] | null, settings?: Partial<GuardrailSettings>) =>
  callerOf(
    { allowedModels },
    settings && { guardrails: [{ guardrail: guardrailOf(settings), scope: 'workspace' as const }] },
  );

const SMALL = model('acme/small', { canonicalSlug: 'acme/small-1', aliases: ['small'] });
const LARGE = model('acme/large');

function planned(caller: ReturnType<typeof callerOf>) {
  const route = planRoute(routeOf([SMALL, LARGE], { callerRules: callerFilters(caller) }));
  return { tags: tagsOf(route), reasons: route.rejected.map(({ filter, reason }) => [filter, reason]) };
}

describe('the models of a key', () => {
  it.each(['acme/small', 'acme/small-1', 'small'])('are named by id, canonical slug or alias: %s', (name) => {
    expect(planned(callerWith([name]))).toEqual({
      tags: ['acme/small'],
      reasons: [['allowed_models', `the key allows only ${name}`]],
    });
  });

  it('are named in the reason, the first five of many', () => {
    const { reasons } = planned(callerWith(['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'a/6', 'acme/small']));
    expect(reasons).toEqual([['allowed_models', 'the key allows only a/1, a/2, a/3, a/4, a/5 and 2 more']]);
  });

  it('hold beside the guardrails of the caller: what either forbids is forbidden', () => {
    expect(planned(callerWith(['acme/small'], { ignoredModels: ['acme/small'] })).tags).toEqual([]);
    expect(planned(callerWith(['acme/large'], { ignoredModels: ['acme/small'] })).tags).toEqual([
      'acme/large',
    ]);
  });

  it('make filters once for a cached caller, and none for a key that has none', () => {
    const caller = callerWith(['small'], { ignoredProviders: ['x'] });
    expect(callerFilters(caller)).toBe(callerFilters(caller));
    const free = callerWith(null, { ignoredProviders: ['x'] });
    expect(callerFilters(free)).toBe(guardrailFilters(free.guardrails));
    expect(callerFilters(callerWith(null))).toEqual([]);
  });
});

it('lists the models that are left to a caller', () => {
  const isAllowed = (caller: ReturnType<typeof callerOf>, of = LARGE) =>
    isModelAllowed(of, caller, () => [SHARED]);
  const empty = { ...LARGE, endpoints: [] };
  expect(isAllowed(callerWith(null))).toBe(true);
  expect(isAllowed(callerWith(['acme/large']))).toBe(true);
  expect(isAllowed(callerWith(['acme/small']))).toBe(false);
  expect(isAllowed(callerWith(['acme/small']), empty)).toBe(false);
  expect(isAllowed(callerWith(null, { allowedModels: ['acme/large'] }))).toBe(true);
  expect(isAllowed(callerWith(null, { allowedProviders: ['other'] }))).toBe(false);
  expect(isAllowed(callerWith(null, { allowedProviders: ['other'] }), empty)).toBe(true);
  expect(isAllowed(callerWith(null, { ignoredModels: ['acme/large'] }), empty)).toBe(false);
});
