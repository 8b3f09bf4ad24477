import type { GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { cleanCode, cleanMessage, reportedFailure } from '../shared/answers/reported-failure.ts';

/** Body of an HTTP error. */
export { encodeEnvelope as encodeError } from '../shared/answers/error-envelope.ts';

export function readError(body: unknown): UpstreamErrorInfo | undefined {
  if (!isJsonObject(body)) return undefined;
  const error = objectAt(body, 'error') ?? body;
  const message = stringAt(error, 'message') ?? stringAt(body, 'error') ?? stringAt(body, 'detail');
  const code = stringAt(error, 'code') ?? stringAt(error, 'type');
  if (message === undefined && (code === undefined || error === body)) return undefined;
  const cleaned = cleanMessage(message ?? 'The provider reported an error');
  return code === undefined ? { message: cleaned } : { message: cleaned, code: cleanCode(code) };
}

export function failureOf(body: JsonObject): GatewayError {
  return reportedFailure(readError(body));
}
