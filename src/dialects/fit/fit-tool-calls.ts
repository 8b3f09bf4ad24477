import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { UpstreamDialect } from '../dialect.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** Limits the calls of upstream tools to what is paid for. `most`: calls; undefined = unlimited. */
export function fitToolCalls(
  request: GenerationRequest,
  most: number | undefined,
  { hosted }: Pick<UpstreamDialect, 'hosted'>,
): FittedRequest {
  if (most === undefined || hosted?.bound === undefined) return { request, report: NO_ENTRIES };
  const bounded = hosted.bound(request, most);
  const entry: TranslationEntry = {
    field: bounded.field,
    action: 'coerced',
    detail: `at most ${most} calls of the upstream's own tools, what the limits of the key still pay for`,
  };
  return { request: bounded.request, report: [entry] };
}
