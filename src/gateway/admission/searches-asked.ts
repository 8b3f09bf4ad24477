import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** Searches that a request lets one endpoint run. */
export interface EndpointSearches {
  /** 0 = none, infinite = as many as the endpoint likes. */
  readonly most: number;
  /** Whether the endpoint takes a lower limit. */
  readonly isBoundable: boolean;
}

/** Searches of one request, by endpoint: dialects ask for them in different words, and some have none. */
export type SearchesAsked = (
  endpoint: Pick<Endpoint, 'provider' | 'supportedParameters'>,
) => EndpointSearches;

const NO_SEARCHES: EndpointSearches = { most: 0, isBoundable: true };

/** What a request says about web searches. */
export function searchesAskedBy(request: GenerationRequest): SearchesAsked {
  return ({ provider, supportedParameters }) => {
    const rules = DIALECTS[dialectOf(provider, request.format)].upstream.searches;
    const most = rules?.asked(request, supportedParameters) ?? 0;
    return most <= 0 ? NO_SEARCHES : { most, isBoundable: rules?.bound !== undefined };
  };
}
