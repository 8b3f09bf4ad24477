import { describe, expect, it } from 'vitest';
import { endpointOf, modelOf, providerOf } from '../../../test/kit/builders/catalog.ts';
import { guardrailOf } from '../../../test/kit/builders/guardrails.ts';
import { byokCredentialOf, routeOf, tagsOf } from '../../../test/kit/builders/route.ts';
import type { AppliedGuardrail, GuardrailSettings } from '../../ports/tenancy/guardrails.ts';
import { NO_GUARDRAILS } from '../../ports/tenancy/guardrails.ts';
import { planRoute } from '../plan-route.ts';
import { demandsZeroRetention, guardrailFilters } from './guardrail-rules.ts';

const ZERO = { training: false, retainsPrompts: false };
const KEEPING = { training: false, retainsPrompts: true };

const provider = (slug: string, dataPolicy?: { training: boolean; retainsPrompts: boolean }) =>
  providerOf({ slug, name: slug, dataPolicy });

const endpoint = (tag: string, policy?: typeof ZERO, free = false) =>
  endpointOf({
    tag,
    site: tag,
    provider: provider(tag.split('/')[0] ?? tag, policy),
    pricing: free ? { prompt: 0n, completion: 0n } : { prompt: 1n, completion: 1n },
  });

const applied = (settings: Partial<GuardrailSettings>, scope: AppliedGuardrail['scope'] = 'workspace') => ({
  guardrail: guardrailOf(settings),
  scope,
});

const ZDR = { anthropic: null, openai: null, google: null, xai: null, other: null };

function plannedUnder(
  guardrails: readonly AppliedGuardrail[],
  model = modelOf({
    id: 'acme/large',
    endpoints: [
      endpoint('zero', ZERO),
      endpoint('keeping', KEEPING),
      endpoint('unknown'),
      endpoint('gift', undefined, true),
      endpoint('bed/eu', ZERO),
      endpoint('bed/us-east', ZERO),
    ],
  }),
  byok = [] as ReturnType<typeof byokCredentialOf>[],
) {
  return planRoute(routeOf([model], { callerRules: guardrailFilters(guardrails), byok }));
}

describe('rules of guardrails', () => {
  it.each<[string, Partial<GuardrailSettings>, string[]]>([
    ['allowed_providers', { allowedProviders: ['zero', 'bed'] }, ['bed/eu', 'bed/us-east', 'zero']],
    ['ignored_providers', { ignoredProviders: ['bed', 'gift', 'unknown'] }, ['keeping', 'zero']],
    ['allowed_models', { allowedModels: ['acme/small'] }, []],
    ['ignored_models', { ignoredModels: ['acme/large'] }, []],
    ['enforce_zdr', { enforceZdr: { ...ZDR, other: true } }, ['bed/eu', 'bed/us-east', 'zero']],
    [
      'enable_paid_model_training',
      { enablePaidModelTraining: false },
      ['bed/eu', 'bed/us-east', 'gift', 'keeping', 'zero'],
    ],
    [
      'enable_free_model_training',
      { enableFreeModelTraining: false },
      ['bed/eu', 'bed/us-east', 'keeping', 'unknown', 'zero'],
    ],
    [
      'enable_free_model_publication',
      { enableFreeModelPublication: false },
      ['bed/eu', 'bed/us-east', 'keeping', 'unknown', 'zero'],
    ],
    ['allowed_data_regions', { allowedDataRegions: ['europe'] }, ['bed/eu']],
  ])('%s leaves what it allows', (name, settings, left) => {
    const plan = plannedUnder([applied(settings)]);
    expect(tagsOf(plan).sort()).toEqual(left);
    expect(new Set(plan.rejected.map(({ filter }) => filter))).toEqual(new Set([name]));
    expect(plan.rejected[0]?.reason).toContain(`${name}`);
    expect(plan.rejected[0]?.reason).toContain("the workspace's guardrail");
  });

  it('regions: what is kept in no region is global', () => {
    const plan = plannedUnder([applied({ allowedDataRegions: ['global', 'us'] })]);
    expect(tagsOf(plan)).not.toContain('bed/eu');
    expect(tagsOf(plan)).toEqual(expect.arrayContaining(['zero', 'bed/us-east']));
  });

  it('holds for one family of models only, and for several guardrails together', () => {
    const claude = modelOf({
      id: 'anthropic/x',
      endpoints: [endpoint('zero', ZERO), endpoint('keeping', KEEPING)],
    });
    const guardrail = applied({ enforceZdr: { ...ZDR, anthropic: true } });
    expect(tagsOf(plannedUnder([guardrail], claude))).toEqual(['zero']);
    expect(tagsOf(plannedUnder([guardrail]))).toContain('keeping');
    const other = applied({ allowedProviders: ['keeping'] }, 'api-key');
    expect(tagsOf(plannedUnder([guardrail, other], claude))).toEqual([]);
    expect(tagsOf(plannedUnder([applied({ allowedProviders: ['zero', 'bed'] }), other]))).toEqual([]);
  });

  it('true allows nothing that another guardrail forbids', () => {
    const both = [applied({ enablePaidModelTraining: true }), applied({ enablePaidModelTraining: false })];
    expect(tagsOf(plannedUnder(both))).not.toContain('unknown');
  });

  it('finds a model by its canonical slug, its id and its aliases', () => {
    const model = modelOf({
      id: 'acme/large',
      canonicalSlug: 'acme/large-20260101',
      aliases: ['big'],
      endpoints: [endpoint('zero', ZERO)],
    });
    for (const name of ['acme/large', 'acme/large-20260101', 'big']) {
      expect(tagsOf(plannedUnder([applied({ allowedModels: [name] })], model))).toEqual(['zero']);
      expect(tagsOf(plannedUnder([applied({ ignoredModels: [name] })], model))).toEqual([]);
    }
  });

  it('a credential exempts no provider, but its owner says whether anything is retained', () => {
    const model = modelOf({ id: 'acme/large', endpoints: [endpoint('acme', KEEPING)] });
    const own = [byokCredentialOf({ declaredZeroRetention: true })];
    expect(tagsOf(plannedUnder([applied({ enforceZdr: { ...ZDR, other: true } })], model, own))).toEqual([
      'own-1@acme',
    ]);
    expect(tagsOf(plannedUnder([applied({ ignoredProviders: ['acme'] })], model, own))).toEqual([]);
  });

  it('makes the filters of a caller once, and none for callers without guardrails', () => {
    const guardrails = [applied({ ignoredProviders: ['x'] })];
    expect(guardrailFilters(guardrails)).toBe(guardrailFilters(guardrails));
    expect(guardrailFilters(NO_GUARDRAILS)).toEqual([]);
  });

  it('demands zero retention of what is stored, by family', () => {
    const guardrails = [applied({ enforceZdr: { ...ZDR, xai: true } })];
    expect(demandsZeroRetention(guardrails, ['x-ai/grok'])).toBe(true);
    expect(demandsZeroRetention(guardrails, ['~x-ai/grok-latest'])).toBe(true);
    expect(demandsZeroRetention(guardrails, ['openai/gpt'])).toBe(false);
    expect(demandsZeroRetention(guardrails, ['grok-alias'])).toBe(true);
  });
});
