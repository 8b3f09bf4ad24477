import type { Endpoint, Model } from '../catalog/catalog.ts';
import type { GenerationRequest, RoutingWishes } from '../ir/request.ts';
import { dialectOf } from '../upstream/call.ts';
import type { Candidate, Rejection } from './candidate.ts';
import { FILTERS, type FilterSubject, isNamedBy } from './filters.ts';
import { needsOf } from './needs.ts';

/** Endpoints a request may be sent to, in order, and those it may not. */
export interface Candidates {
  readonly accepted: readonly Candidate[];
  readonly rejected: readonly Rejection[];
}

/** Models x endpoints in configured order, through the hard filters. `mayRelay`: no stage is going to touch the content. */
export function candidatesOf(
  request: GenerationRequest,
  models: readonly Model[],
  mayRelay: boolean,
): Candidates {
  const needs = needsOf(request);
  const accepted: Candidate[] = [];
  const rejected: Rejection[] = [];
  for (const model of models) {
    const passing: Endpoint[] = [];
    for (const endpoint of model.endpoints) {
      const rejection = rejectionOf({ request, needs, model, endpoint });
      if (rejection === undefined) passing.push(endpoint);
      else rejected.push(rejection);
    }
    const wanted = inOrder(passing, request.wishes);
    for (const endpoint of passing.filter((each) => !wanted.includes(each))) {
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

function rejectionOf(subject: FilterSubject): Rejection | undefined {
  for (const filter of FILTERS) {
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
