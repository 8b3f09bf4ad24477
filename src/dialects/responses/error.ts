import { type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { ErrorContext, UpstreamErrorInfo } from '../dialect.ts';
import { define } from '../gateway-fields.ts';
import { objectAt, stringAt } from './members.ts';

/** Body of an HTTP error. */
export function encodeError(error: GatewayError, context: ErrorContext): JsonObject {
  const body: JsonObject = {
    error: {
      code: error.status,
      message: error.message,
      metadata: { ...error.metadata, error_type: error.row.errorType },
      ...error.details,
    },
  };
  if (error.routing !== undefined)
    define(body, `${context.vendor}_metadata`, error.routing as unknown as JsonObject);
  if (context.userId !== undefined) body.user_id = context.userId;
  return body;
}

/** What an error body says. */
export function readError(body: unknown): UpstreamErrorInfo | undefined {
  if (!isJsonObject(body)) return undefined;
  const error = objectAt(body, 'error') ?? body;
  const message = stringAt(error, 'message') ?? stringAt(body, 'error') ?? stringAt(body, 'detail');
  const code = stringAt(error, 'code') ?? stringAt(error, 'type');
  if (message === undefined && (code === undefined || error === body)) return undefined;
  const cleaned = cleanMessage(message ?? 'The provider reported an error');
  return code === undefined ? { message: cleaned } : { message: cleaned, code: cleanMessage(code) };
}

/** Kinds of failures by what upstreams call them; the first pattern that fits decides. */
const FAILURE_KINDS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/context_length|context_window|string_too_long/i, 'context-length'],
  [/rate.?limit|too_many_requests|quota/i, 'rate-limited'],
  [/overload|capacity|slow_down|(?:^|\D)529(?:\D|$)/i, 'upstream-overloaded'],
];

/** A failure that an upstream reports inside a stream or a body with status 200. */
export function upstreamFailure(body: JsonObject): GatewayError {
  const info = readError(body) ?? { message: 'The provider reported an error' };
  const words = `${info.code ?? ''} ${info.code === undefined ? info.message : ''}`;
  const kind = FAILURE_KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? 'upstream-unavailable';
  return new GatewayError(kind, info.message, {
    metadata: info.code === undefined ? {} : { provider_code: info.code },
  });
}

/** What is left of a provider's message before a caller sees it. */
const MAX_MESSAGE_LENGTH = 500;
const SECRETS = /\b(?:sk|pk|rk|key|gsk|xai|AIza)[-_]?[A-Za-z0-9_*-]{12,}|\bBearer\s+\S+/g;

function cleanMessage(message: string): string {
  const plain = message
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .replace(SECRETS, '[redacted]')
    .trim();
  return plain.length <= MAX_MESSAGE_LENGTH ? plain : `${plain.slice(0, MAX_MESSAGE_LENGTH)}...`;
}
