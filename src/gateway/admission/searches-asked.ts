import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** Searches that one endpoint may run for a request. */
export interface EndpointSearches {
  /** 0 = none; infinite = no limit. */
  readonly most: number;
  /** True if the endpoint accepts a lower limit. */
  readonly isBoundable: boolean;
}

/** Searches of one request, by endpoint: dialects request them with different fields, and some have none. */
export type SearchesAsked = (
  endpoint: Pick<Endpoint, 'provider' | 'supportedParameters'>,
) => EndpointSearches;

const NO_SEARCHES: EndpointSearches = { most: 0, isBoundable: true };

/** Reads the web searches that a request allows. */
export function searchesAskedBy(request: GenerationRequest): SearchesAsked {
  return ({ provider, supportedParameters }) => {
    const rules = DIALECTS[dialectOf(provider, request.format)].upstream.searches;
    const most = rules?.asked(request, supportedParameters) ?? 0;
    return most <= 0 ? NO_SEARCHES : { most, isBoundable: rules?.bound !== undefined };
  };
}
