import type { TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { quoted } from '../kit/text/quoted.ts';
import type { ByokCredential } from '../ports/tenancy/byok-credentials.ts';
import { custodyOf } from './conversation/custody.ts';
import type { HealthView } from './health/endpoint-health.ts';
import { rank } from './order/rank.ts';
import type { RankedCandidate, Rejection } from './rules/candidate.ts';
import { candidatesOf, type PreferredModel } from './rules/candidates.ts';
import type { Filter } from './rules/filters.ts';
import type { Needs } from './rules/needs.ts';
import { type Preferences, preferencesOf, statedPartition, withVariants } from './rules/preferences.ts';
import { isNamedIn, namesOf } from './rules/provider-names.ts';
import type { RoutedModel } from './rules/routed-model.ts';

export interface RouteInput {
  readonly request: GenerationRequest;
  readonly needs: Needs;
  /** In order of preference, each endpoint once. */
  readonly models: readonly RoutedModel[];
  /** BYOK credentials that the caller may use. */
  readonly byok: readonly ByokCredential[];
  /** Filters by the caller's key and guardrails. */
  readonly callerRules: readonly Filter[];
  /** No stage touches the content. */
  readonly mayRelay: boolean;
  readonly health: HealthView;
  /** The pinned site of the conversation. */
  readonly pin: string | undefined;
  /** 0 <= n < 1. */
  readonly random: () => number;
}

/** The candidates in the order of attempts, the rejected endpoints, and the preferences without effect. */
export interface RoutePlan {
  readonly ranked: readonly RankedCandidate[];
  readonly rejected: readonly Rejection[];
  readonly report: readonly TranslationEntry[];
}

/** Plans a leg: candidates, rules, order. Pure except for `random`. */
export function planRoute(input: RouteInput): RoutePlan {
  const { request, needs, byok, callerRules, mayRelay } = input;
  const preferences = preferencesOf(request);
  const models = preferredModels(input.models, preferences);
  const { accepted, rejected } = candidatesOf({
    format: request.format,
    needs,
    preferences,
    models,
    byok,
    callerRules,
    mayRelay,
  });
  const ranked = rank(
    models.map((model, index) => ({ candidates: accepted[index] ?? [], preferences: model.preferences })),
    {
      health: input.health,
      pin: input.pin,
      takesSealsBack: custodyOf(request),
      usesTools: needs.parameters.has('tools'),
      random: input.random,
    },
  );
  const report = ineffectivePreferences(request, models, preferences);
  if (preferences.allowsFallbacks) return { ranked, rejected, report };
  const { kept, dropped } = withoutFallbacks(ranked, preferences);
  return { ranked: kept, rejected: [...rejected, ...dropped], report };
}

function preferredModels(models: readonly RoutedModel[], preferences: Preferences): PreferredModel[] {
  return models.map(({ model, variants }) => ({ model, preferences: withVariants(preferences, variants) }));
}

/** Keeps the candidates in `provider.order`; without one the first of each model: fallback models stay allowed. */
function withoutFallbacks(
  ranked: readonly RankedCandidate[],
  { order }: Preferences,
): { readonly kept: RankedCandidate[]; readonly dropped: Rejection[] } {
  const served = new Set<string>();
  const kept: RankedCandidate[] = [];
  const dropped = new Set<RankedCandidate['endpoint']>();
  for (const candidate of ranked) {
    const isWanted = order.size > 0 ? isNamedIn(order, candidate.endpoint) : !served.has(candidate.model.id);
    served.add(candidate.model.id);
    if (isWanted) kept.push(candidate);
    else dropped.add(candidate.endpoint);
  }
  return {
    kept,
    dropped: [...dropped].map((endpoint) => ({
      endpoint,
      filter: 'allow_fallbacks',
      reason: 'provider.allow_fallbacks is false',
    })),
  };
}

const NAME_LISTS = ['order', 'only', 'ignore'] as const satisfies readonly (keyof Preferences)[];

/** Names shown in one entry. */
const MAX_SHOWN_NAMES = 5;

/** Preferences that were understood and have no effect. */
function ineffectivePreferences(
  { wishes: { provider, route } }: GenerationRequest,
  models: readonly PreferredModel[],
  preferences: Preferences,
): TranslationEntry[] {
  const report: TranslationEntry[] = [];
  const partition = statedPartition(provider);
  if (route !== undefined && partition !== undefined && (route === 'sort') !== (partition === 'none')) {
    report.push({ field: 'route', action: 'dropped', detail: 'provider.sort.partition says otherwise' });
  }
  const { order, only, ignore } = preferences;
  if (order.size === 0 && (only?.size ?? 0) === 0 && ignore.size === 0) return report;
  const lists = NAME_LISTS.filter((name) => (preferences[name]?.size ?? 0) > 0);
  const known = new Set(models.flatMap(({ model }) => model.endpoints.flatMap(namesOf)));
  for (const list of lists) {
    const unknown = [...(preferences[list]?.keys() ?? [])].filter((name) => !known.has(name));
    if (unknown.length > 0) report.push(entryFor(list, unknown));
  }
  return report;
}

function entryFor(list: string, names: readonly string[]): TranslationEntry {
  const more = names.length > MAX_SHOWN_NAMES ? ` and ${names.length - MAX_SHOWN_NAMES} more` : '';
  return {
    field: `provider.${list}`,
    action: 'dropped',
    detail: `no endpoint of the requested models is named ${names.slice(0, MAX_SHOWN_NAMES).map(quoted).join(', ')}${more}`,
  };
}
