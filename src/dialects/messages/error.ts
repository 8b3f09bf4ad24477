import type { GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import type { ErrorContext, UpstreamErrorInfo } from '../dialect.ts';
import { errorContextMembers, errorObject } from '../shared/answers/error-envelope.ts';
import { PROMPT_IS_TOO_LONG } from '../shared/answers/overflow-words.ts';
import { cleanCode, cleanMessage, reportedFailure } from '../shared/answers/reported-failure.ts';

/** Body of an HTTP error and of the `error` event: the format's own members and the gateway's envelope in one. */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const { errorType, messagesType } = error.row;
  return {
    type: 'error',
    error: { type: messagesType, ...errorObject(error, PROMPT_IS_TOO_LONG), error_type: errorType },
    request_id: context.generationId,
    ...errorContextMembers(error, context),
  };
}

/** Reads an upstream's error body: the native shape, and those of similar servers. */
export function readError(body: unknown): UpstreamErrorInfo | undefined {
  if (!isJsonObject(body)) return undefined;
  const error = isJsonObject(body.error) ? body.error : body;
  const message = [error.message, body.message, body.error, body.detail].find(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  );
  if (message === undefined) return undefined;
  const code = [error.type, error.code].find(
    (word): word is string => typeof word === 'string' && word !== '' && word !== 'error',
  );
  return { message: cleanMessage(message), ...(code !== undefined && { code: cleanCode(code) }) };
}

export function failureOf(body: JsonObject): GatewayError {
  return reportedFailure(readError(body));
}
