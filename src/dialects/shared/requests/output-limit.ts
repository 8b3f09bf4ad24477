import { exceeds } from '../../../catalog/output-limit.ts';
import { type ConversationForm, conversationForm } from '../../../ir/format-facts.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { numberAt } from '../../../kit/json/members.ts';
import type { RenderTarget } from '../../dialect.ts';
import type { Report } from '../report/report.ts';

/** The caller's output limit, lowered to the most that the endpoint writes; undefined if the caller named none. */
export function cappedLimit(
  request: GenerationRequest,
  target: RenderTarget,
  report: Report,
): number | undefined {
  const { requestedOutputTokens: asked } = request;
  return asked === undefined
    ? undefined
    : capped(asked, () => reportedField(request, report), target, report);
}

/** A limit, lowered to the most that the endpoint writes. `field`: its name in the caller's body, for the report. */
export function capped(
  asked: number,
  field: () => string,
  { outputLimit: most }: RenderTarget,
  report: Report,
): number {
  if (most === undefined || !exceeds(asked, most)) return asked;
  report.coerced(field(), `lowered to ${most}, the most that the endpoint writes`);
  return most;
}

// --- Members of a body ----------------------------------------------------------------------------------------------

type LimitFields = ConversationForm['limitFields'];

/** The fields of a body that hold an output limit: chat bodies may have two. */
export function givenLimitFields({ formatFacts, body }: GenerationRequest): string[] {
  return conversationForm(formatFacts).limitFields.filter(
    (field): field is string => field !== undefined && numberAt(body, field) !== undefined,
  );
}

/** The limit of a body that has two fields for it: the newer field decides. */
export function limitIn(body: GenerationRequest['body'], [usual, newer]: LimitFields): number | undefined {
  return (newer === undefined ? undefined : numberAt(body, newer)) ?? numberAt(body, usual);
}

/**
 * The field for a limit that is new to a body: newer models refuse the older name. `quirks`: absent if the name that
 * a provider insists on is put in later.
 */
export function limitFieldAt(
  [usual, newer]: LimitFields,
  { supportedParameters: taken, quirks }: Pick<RenderTarget, 'supportedParameters' | 'quirks'>,
): string {
  const takesOnlyNewer = newer !== undefined && taken?.has(newer) === true && !taken.has(usual);
  return takesOnlyNewer ? newer : (quirks?.outputLimitField ?? usual);
}

/** Output tokens that a request asks for; undefined = no limit. Vectors are not output tokens. */
export function outputAskedFor({
  embedding,
  requestedOutputTokens,
}: Pick<GenerationRequest, 'embedding' | 'requestedOutputTokens'>): number | undefined {
  return embedding === undefined ? requestedOutputTokens : 0;
}

/**
 * The most that an upstream may read in a request as its output limit: the higher of two limits. A body that has both
 * goes out with both, and an upstream may read either.
 */
export function highestLimit(request: GenerationRequest): number | undefined {
  const asked = outputAskedFor(request);
  if (request.embedding !== undefined) return asked;
  const { formatFacts, body } = request;
  const [usual, newer] = conversationForm(formatFacts).limitFields;
  const older = newer === undefined ? undefined : numberAt(body, usual);
  return asked === undefined || older === undefined ? asked : Math.max(asked, older);
}

/**
 * The lower of two output limits, for a provider that accepts one name only: an answer within it is within both, and
 * the money that is reserved for the higher one suffices.
 */
export function lowestLimit(limits: readonly number[]): number {
  return Math.min(...limits);
}

/** The field to report: of two names for the limit, the newer one if the body has it. */
function reportedField({ formatFacts, body }: GenerationRequest, report: Report): string {
  const [, newer] = conversationForm(formatFacts).limitFields;
  return newer !== undefined && numberAt(body, newer) !== undefined
    ? newer
    : report.name('requestedOutputTokens');
}
