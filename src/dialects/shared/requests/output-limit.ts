import type { GenerationRequest } from '../../../ir/request.ts';
import { numberAt } from '../../../kit/json/members.ts';
import type { RenderTarget } from '../../dialect.ts';
import type { Report } from '../report/report.ts';

/** The caller's output limit, lowered to the most that the endpoint writes; undefined if the caller named none. */
export function cappedLimit(
  request: GenerationRequest,
  { outputLimit: most }: RenderTarget,
  report: Report,
): number | undefined {
  const { requestedOutputTokens: asked } = request;
  if (asked === undefined || most === undefined || asked <= most) return asked;
  report.coerced(limitField(request, report), `lowered to ${most}, the most that the endpoint writes`);
  return most;
}

/** Of two names for the limit, the newer one if the body has it. */
function limitField({ formatFacts, body }: GenerationRequest, report: Report): string {
  const [, newer] = formatFacts.limitFields;
  return newer !== undefined && numberAt(body, newer) !== undefined
    ? newer
    : report.name('requestedOutputTokens');
}
