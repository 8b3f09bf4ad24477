import type { GenerationRequest } from '../../../ir/request.ts';
import { numberAt } from '../../../kit/json/members.ts';
import type { RenderTarget } from '../../dialect.ts';
import type { Report } from '../report/report.ts';

/** The output limit that the caller named, lowered to what the endpoint writes at most; undefined when none was named. */
export function cappedLimit(
  request: GenerationRequest,
  { maxOutputTokens: most }: RenderTarget,
  report: Report,
): number | undefined {
  const { maxOutputTokens: asked } = request;
  if (asked === undefined || most === undefined || asked <= most) return asked;
  report.coerced(limitField(request, report), `lowered to ${most}, the most that the endpoint writes`);
  return most;
}

/** The chat format has two names for it. */
function limitField({ format, body }: GenerationRequest, report: Report): string {
  const isNewer = format === 'chat' && numberAt(body, 'max_completion_tokens') !== undefined;
  return isNewer ? 'max_completion_tokens' : report.name('maxOutputTokens');
}
