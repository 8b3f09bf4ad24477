import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { cleanCode, cleanMessage, reportedFailure } from '../shared/answers/reported-failure.ts';

/** Reads an error body; undefined if it has no error. Streams that break before they begin wrap it in a list. */
export function readError(body: unknown): UpstreamErrorInfo | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(first)) return undefined;
  const error = objectAt(first, 'error') ?? first;
  const message = textAt(first, 'error') ?? textAt(error, 'message');
  const code = codeOf(error);
  if (message === undefined && (code === undefined || error === first)) return undefined;
  const retryAfterSeconds = retryAfterIn(error);
  return {
    message: cleanMessage(message ?? `The provider reported ${code}`),
    ...(code !== undefined && { code: cleanCode(code) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** Reasons that are more precise than their status. */
const PRECISE_REASONS: ReadonlySet<string> = new Set(['API_KEY_INVALID']);

function codeOf(error: JsonObject): string | undefined {
  const reason = objectsAt(error, 'details')
    .map((detail) => textAt(detail, 'reason') ?? '')
    .find((word) => PRECISE_REASONS.has(word));
  const number = numberAt(error, 'code');
  return reason ?? textAt(error, 'status') ?? (number === undefined ? undefined : String(number));
}

const DURATION = /^(\d{1,9}(?:\.\d{1,9})?)s$/;

/** Seconds until a retry, from a detail of the error. */
function retryAfterIn(error: JsonObject): number | undefined {
  const delay = objectsAt(error, 'details')
    .map((detail) => DURATION.exec(textAt(detail, 'retryDelay') ?? '')?.[1])
    .find((seconds) => seconds !== undefined);
  return delay === undefined ? undefined : Number(delay);
}

const KINDS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['RESOURCE_EXHAUSTED', 'rate-limited'],
  ['UNAVAILABLE', 'upstream-overloaded'],
  ['DEADLINE_EXCEEDED', 'upstream-timeout'],
  ['INVALID_ARGUMENT', 'invalid-request'],
  ['FAILED_PRECONDITION', 'invalid-request'],
]);

export function failureOf(body: JsonObject): GatewayError {
  const info = readError(body);
  const kind = KINDS.get(info?.code ?? '');
  if (info === undefined || kind === undefined) return reportedFailure(info);
  return new GatewayError(kind, info.message, {
    metadata: { provider_code: info.code },
    ...(info.retryAfterSeconds !== undefined && { retryAfterSeconds: info.retryAfterSeconds }),
  });
}
