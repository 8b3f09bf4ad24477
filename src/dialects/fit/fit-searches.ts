import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { UpstreamDialect } from '../dialect.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** Limits the requested searches to what is paid for. `most`: searches; undefined = unlimited. */
export function fitSearches(
  request: GenerationRequest,
  most: number | undefined,
  { searches }: Pick<UpstreamDialect, 'searches'>,
): FittedRequest {
  if (most === undefined || searches?.bound === undefined) return { request, report: NO_ENTRIES };
  const bounded = searches.bound(request, most);
  const entry: TranslationEntry = {
    field: bounded.field,
    action: 'coerced',
    detail: `at most ${most} web searches, what the limits of the key still pay for`,
  };
  return { request: bounded.request, report: [entry] };
}
