import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { ErrorContext, UpstreamErrorInfo } from '../dialect.ts';
import { objectIn, objectsIn, textIn } from './members.ts';

// --- To the caller -------------------------------------------------------------------------------------------------------

/** Body of an HTTP error. */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  return {
    error: errorObject(error),
    ...(error.routing !== undefined && { [`${context.vendor}_metadata`]: { ...error.routing } }),
    ...(context.userId !== undefined && { user_id: context.userId }),
  };
}

/** The `error` member, in bodies and in streams. */
export function errorObject(error: GatewayError): JsonObject {
  return {
    code: error.status,
    message: error.message,
    metadata: { ...error.metadata, error_type: error.row.errorType },
    ...error.details,
  };
}

// --- From the upstream ---------------------------------------------------------------------------------------------------

/** What an error body says, in any of the shapes that chat servers use; undefined when it says nothing. */
export function readError(body: unknown): UpstreamErrorInfo | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  if (typeof first === 'string') return first.trim() === '' ? undefined : { message: cleanMessage(first) };
  if (!isJsonObject(first)) return undefined;
  const error = objectIn(first, 'error') ?? first;
  const message =
    textIn(first, 'error') ??
    textIn(error, 'message') ??
    textIn(error, 'detail') ??
    textIn(objectsIn(error, 'detail')[0], 'msg') ??
    textIn(objectsIn(first, 'errors')[0], 'message');
  const code = codeOf(error);
  if (message === undefined) {
    return code === undefined || error === first
      ? undefined
      : { message: `The provider reported ${code}`, code };
  }
  return code === undefined ? { message: cleanMessage(message) } : { message: cleanMessage(message), code };
}

function codeOf(error: JsonObject): string | undefined {
  const code = [error.code, error.type, error.status].find(
    (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''),
  );
  return code === undefined ? undefined : String(code).slice(0, MAX_CODE_LENGTH);
}

/** Meanings of what upstreams say, by words in the code and the message; the first that fits counts. */
const MEANINGS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/\b429\b|rate.?limit|too many requests/i, 'rate-limited'],
  [/\b529\b|overloaded|insufficient_system_resource|over capacity/i, 'upstream-overloaded'],
];

/** An error object inside an answer that had already begun. */
export function failureOf(error: unknown): GatewayError {
  const info = readError(isJsonObject(error) ? { error } : error);
  if (info === undefined) return new GatewayError('upstream-unavailable', 'The provider reported an error');
  const words = `${info.code ?? ''} ${info.message}`;
  const kind = MEANINGS.find(([pattern]) => pattern.test(words))?.[1] ?? 'upstream-unavailable';
  return new GatewayError(kind, info.message, {
    metadata: info.code === undefined ? undefined : { provider_code: info.code },
  });
}

const MAX_CODE_LENGTH = 64;
const MAX_MESSAGE_LENGTH = 500;

/** One short line of plain text. */
function cleanMessage(message: string): string {
  const start = message.slice(0, MAX_MESSAGE_LENGTH * 4);
  if (/<(?:!doctype|html|body)\b/i.test(start)) return 'The provider sent an error page';
  const line = start.replace(/[\p{Cc}\u2028\u2029\s]+/gu, ' ').trim();
  return line.length <= MAX_MESSAGE_LENGTH ? line : `${line.slice(0, MAX_MESSAGE_LENGTH - 3)}...`;
}
