import type { Model } from '../../catalog/catalog.ts';
import { canRelay } from '../../dialects/lane.ts';
import type { RequestFormat } from '../../ir/items.ts';
import type { ByokCredential } from '../../ports/tenancy/byok-credentials.ts';
import { accessesTo } from './access.ts';
import type { Candidate, Rejection } from './candidate.ts';
import { type Filter, filtersOf, rejectingFilter } from './filters.ts';
import { narrowToParameters } from './narrow-to-parameters.ts';
import { hasFlex, narrowToTier } from './narrow-to-tier.ts';
import type { Needs } from './needs.ts';
import type { Preferences } from './preferences.ts';
import { Rejections } from './rejections.ts';

export interface PreferredModel {
  readonly model: Model;
  readonly preferences: Preferences;
}

export interface CandidateInput {
  readonly format: RequestFormat;
  readonly needs: Needs;
  /** Preferences of the request, for all of its models. */
  readonly preferences: Preferences;
  readonly models: readonly PreferredModel[];
  readonly byok: readonly ByokCredential[];
  /** Filters by the caller's key and guardrails. */
  readonly callerRules: readonly Filter[];
  /** No stage touches the content. */
  readonly mayRelay: boolean;
}

/** The candidates of each model, in the order of the catalogue, and the rejected endpoints. */
export interface Candidates {
  readonly accepted: readonly (readonly Candidate[])[];
  readonly rejected: readonly Rejection[];
}

/**
 * Models x endpoints x credentials, minus those that a rule rejects. The requested output limit is a maximum, so if no
 * endpoint can write that much, those that can write the most are kept.
 */
export function candidatesOf(input: CandidateInput): Candidates {
  const candidates = passing(input);
  if (input.needs.requestedOutputTokens === undefined || hasCandidate(candidates)) return candidates;
  const anyLength = passing(withMinOutput(input, 0));
  if (!hasCandidate(anyLength)) return anyLength;
  return passing(withMinOutput(input, mostOutputOf(anyLength)));
}

function hasCandidate({ accepted }: Candidates): boolean {
  return accepted.some(({ length }) => length > 0);
}

function withMinOutput(input: CandidateInput, minOutputTokens: number): CandidateInput {
  return { ...input, needs: { ...input.needs, minOutputTokens } };
}

function mostOutputOf({ accepted }: Candidates): number {
  return accepted.flat().reduce((most, { endpoint }) => Math.max(most, endpoint.maxOutputTokens ?? 0), 0);
}

function passing(input: CandidateInput): Candidates {
  const rejections = new Rejections();
  const filters = filtersOf(input.preferences, input.needs, input.callerRules);
  const flexOnly = flexOnlyModels(input);
  const accepted = input.models.map(({ model, preferences }) => {
    const admitted = copiesOf(model, filters, input, rejections);
    const ofTier = narrowToTier(admitted, { preferences, isFlexOnly: flexOnly.has(model.id) }, rejections);
    return narrowToParameters(ofTier, input.needs, rejections);
  });
  return { accepted, rejected: rejections.all };
}

/** Ids of the models that only flex endpoints may serve. By id, because a list may contain a model in two parts. */
function flexOnlyModels({ preferences, models, byok }: CandidateInput): ReadonlySet<string> {
  if (preferences.tier !== 'flex') return NO_MODELS;
  return new Set(models.filter(({ model }) => hasFlex(model, byok)).map(({ model }) => model.id));
}

const NO_MODELS: ReadonlySet<string> = new Set();

function copiesOf(
  model: Model,
  filters: readonly Filter[],
  { format, needs, byok, mayRelay }: CandidateInput,
  rejections: Rejections,
): Candidate[] {
  const copies: Candidate[] = [];
  for (const endpoint of model.endpoints) {
    const lane = mayRelay && canRelay(endpoint, format, needs.decisionForm) ? 'relay' : 'translate';
    for (const access of accessesTo(endpoint, model, byok)) {
      const subject = { model, endpoint, access, byok };
      const filter = rejectingFilter(filters, subject);
      if (filter === undefined) copies.push({ model, endpoint, access, lane });
      else rejections.add(endpoint, filter.name, filter.reason(subject));
    }
  }
  return copies;
}
