import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { ErrorContext, UpstreamErrorInfo } from '../dialect.ts';

/** Body of an HTTP error, and of the `error` event: what the format's clients read and the gateway's envelope in one. */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const { errorType, messagesType } = error.row;
  return {
    type: 'error',
    error: {
      type: messagesType,
      code: error.status,
      message: error.message,
      ...error.details,
      metadata: { ...error.metadata, error_type: errorType },
      error_type: errorType,
    },
    request_id: context.generationId,
    ...(error.routing !== undefined &&
      error.kind !== 'server' && { [`${context.vendor}_metadata`]: error.routing as unknown as JsonObject }),
    ...(context.userId !== undefined && { user_id: context.userId }),
  };
}

/** What an upstream's error body says: the native shape, and the shapes of servers that only resemble it. */
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
  return { message: cleanMessage(message), ...(code !== undefined && { code: cleanMessage(code) }) };
}

/** What kinds of trouble an upstream can name in the middle of an answer. */
const FAILURE_KINDS: ReadonlyMap<string, ErrorKind> = new Map([
  ['overloaded_error', 'upstream-overloaded'],
  ['rate_limit_error', 'rate-limited'],
]);

/** The failure that an `error` event or an error object in place of an answer stands for. */
export function failureOf(body: JsonObject): GatewayError {
  const said = readError(body);
  if (said === undefined) return new GatewayError('upstream-unavailable', 'The provider reported an error');
  const { message, code } = said;
  if (code === undefined) return new GatewayError('upstream-unavailable', message);
  const kind = FAILURE_KINDS.get(code) ?? 'upstream-unavailable';
  return new GatewayError(kind, message, { metadata: { provider_code: code } });
}

const MAX_MESSAGE_LENGTH = 500;

/** One short line of plain text. */
function cleanMessage(text: string): string {
  const beginning = text.slice(0, 4 * MAX_MESSAGE_LENGTH);
  if (/<(?:!doctype|html|body)\b/i.test(beginning)) return 'The provider sent an error page';
  const line = beginning.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH - 3)}...` : line;
}
