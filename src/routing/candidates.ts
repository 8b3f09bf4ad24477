import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { GenerationRequest, RoutingWishes } from '../ir/request.ts';
import { dialectOf } from '../upstream/call.ts';
import type { Candidate, Rejection } from './candidate.ts';
import { FILTERS, type Filter, type FilterSubject, isNamedBy, OUTPUT_LIMIT } from './filters.ts';
import { type Needs, needsOf } from './needs.ts';

/** Endpoints a request may be sent to, in order, and those it may not. */
export interface Candidates {
  readonly accepted: readonly Candidate[];
  readonly rejected: readonly Rejection[];
}

const FILTERS_BUT_OUTPUT_LIMIT = FILTERS.filter((filter) => filter !== OUTPUT_LIMIT);

/** Models x endpoints in configured order, through the hard filters. `mayRelay`: no stage is going to touch the content. */
export function candidatesOf(
  request: GenerationRequest,
  models: readonly Model[],
  mayRelay: boolean,
): Candidates {
  const needs = needsOf(request);
  const candidates = passing(FILTERS, request, needs, models, mayRelay);
  return candidates.accepted.length > 0
    ? candidates
    : passing(FILTERS_BUT_OUTPUT_LIMIT, request, needs, models, mayRelay);
}

function passing(
  filters: readonly Filter[],
  request: GenerationRequest,
  needs: Needs,
  models: readonly Model[],
  mayRelay: boolean,
): Candidates {
  const accepted: Candidate[] = [];
  const rejected: Rejection[] = [];
  for (const model of models) {
    const fitting: Endpoint[] = [];
    for (const endpoint of model.endpoints) {
      const rejection = rejectionOf(filters, { request, needs, model, endpoint });
      if (rejection === undefined) fitting.push(endpoint);
      else rejected.push(rejection);
    }
    const wanted = inOrder(fitting, request.wishes);
    for (const endpoint of fitting.filter((each) => !wanted.includes(each))) {
      rejected.push({ endpoint, filter: 'allow_fallbacks', reason: 'provider.allow_fallbacks is false' });
    }
    for (const endpoint of wanted) {
      const lane =
        mayRelay && dialectOf(endpoint.provider, request.format) === request.format ? 'relay' : 'translate';
      accepted.push({ model, endpoint, lane });
    }
  }
  return { accepted, rejected };
}

function rejectionOf(filters: readonly Filter[], subject: FilterSubject): Rejection | undefined {
  for (const filter of filters) {
    const reason = filter.reject(subject);
    if (reason !== undefined) return { endpoint: subject.endpoint, filter: filter.name, reason };
  }
  return undefined;
}

/** The listed ones first, in list order, then the rest as configured; without fallbacks the listed ones or the first. */
function inOrder(endpoints: readonly Endpoint[], { provider }: RoutingWishes): readonly Endpoint[] {
  const order = Array.isArray(provider.order) ? provider.order : [];
  const position = (endpoint: Endpoint) => {
    const index = order.findIndex((name) => typeof name === 'string' && isNamedBy(name, endpoint));
    return index === -1 ? order.length : index;
  };
  const sorted = [...endpoints].sort((a, b) => position(a) - position(b));
  if (provider.allow_fallbacks !== false) return sorted;
  return order.length > 0
    ? sorted.filter((endpoint) => position(endpoint) < order.length)
    : sorted.slice(0, 1);
}
