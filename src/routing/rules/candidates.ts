import type { Model } from '../../catalog/catalog.ts';
import { dialectOf } from '../../dialects/lane.ts';
import type { Format } from '../../ir/items.ts';
import type { OwnCredential } from '../../ports/own-credentials.ts';
import { accessesTo } from './access.ts';
import type { Candidate, Rejection } from './candidate.ts';
import { type Filter, filtersOf, rejectingFilter } from './filters.ts';
import { narrowToParameters } from './narrow-to-parameters.ts';
import { hasFlex, narrowToTier } from './narrow-to-tier.ts';
import type { Needs } from './needs.ts';
import type { Preferences } from './preferences.ts';
import { Rejections } from './rejections.ts';

/** One model of a request, with what the request prefers for it. */
export interface PreferredModel {
  readonly model: Model;
  readonly preferences: Preferences;
}

/** What decides who may serve. */
export interface CandidateInput {
  readonly format: Format;
  readonly needs: Needs;
  /** Those of the request, which all its models share. */
  readonly preferences: Preferences;
  readonly models: readonly PreferredModel[];
  readonly own: readonly OwnCredential[];
  /** No stage is going to touch the content. */
  readonly mayRelay: boolean;
}

/** Who may serve, model by model and in the order of the catalogue, and who may not. */
export interface Candidates {
  readonly accepted: readonly (readonly Candidate[])[];
  readonly rejected: readonly Rejection[];
}

/**
 * Models x endpoints x credentials, through the hard rules. That an endpoint writes as much as is asked for is held
 * only as long as it leaves a candidate: what is asked for is a maximum, so an endpoint that writes less can still
 * honour it. Then those stay that write the most.
 */
export function candidatesOf(input: CandidateInput): Candidates {
  const candidates = passing(input);
  if (input.needs.outputTokens === undefined || hasCandidate(candidates)) return candidates;
  const anyLength = passing(withLeastOutput(input, 0));
  if (!hasCandidate(anyLength)) return anyLength;
  return passing(withLeastOutput(input, mostOutputOf(anyLength)));
}

function hasCandidate({ accepted }: Candidates): boolean {
  return accepted.some(({ length }) => length > 0);
}

function withLeastOutput(input: CandidateInput, leastOutput: number): CandidateInput {
  return { ...input, needs: { ...input.needs, leastOutput } };
}

function mostOutputOf({ accepted }: Candidates): number {
  return accepted.flat().reduce((most, { endpoint }) => Math.max(most, endpoint.maxOutputTokens ?? 0), 0);
}

function passing(input: CandidateInput): Candidates {
  const rejections = new Rejections();
  const filters = filtersOf(input.preferences, input.needs);
  const flexOnly = flexOnlyModels(input);
  const accepted = input.models.map(({ model, preferences }) => {
    const admitted = copiesOf(model, filters, input, rejections);
    const ofTier = narrowToTier(admitted, { preferences, isFlexOnly: flexOnly.has(model.id) }, rejections);
    return narrowToParameters(ofTier, input.needs, rejections);
  });
  return { accepted, rejected: rejections.all };
}

/** Ids of the models that flex endpoints alone may serve. By id, because a list may bring a model in two parts. */
function flexOnlyModels({ preferences, models, own }: CandidateInput): ReadonlySet<string> {
  if (preferences.tier !== 'flex') return NO_MODELS;
  return new Set(models.filter(({ model }) => hasFlex(model, own)).map(({ model }) => model.id));
}

const NO_MODELS: ReadonlySet<string> = new Set();

function copiesOf(
  model: Model,
  filters: readonly Filter[],
  { format, own, mayRelay }: CandidateInput,
  rejections: Rejections,
): Candidate[] {
  const copies: Candidate[] = [];
  for (const endpoint of model.endpoints) {
    const lane = mayRelay && dialectOf(endpoint.provider, format) === format ? 'relay' : 'translate';
    for (const access of accessesTo(endpoint, model, own)) {
      const subject = { model, endpoint, access, own };
      const filter = rejectingFilter(filters, subject);
      if (filter === undefined) copies.push({ model, endpoint, access, lane });
      else rejections.add(endpoint, filter.name, filter.reason(subject));
    }
  }
  return copies;
}
