import type { GatewayError } from '../../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import type { ErrorContext } from '../../dialect.ts';
import { MAXIMUM_CONTEXT_LENGTH, messageOf, type OverflowWords } from './overflow-words.ts';

/** The `error` member of the envelope, in bodies and in streams. */
export function errorObject(error: GatewayError, words: OverflowWords = MAXIMUM_CONTEXT_LENGTH): JsonObject {
  return {
    code: error.status,
    message: messageOf(error, words),
    metadata: { ...error.metadata, error_type: error.row.errorType },
    ...error.details,
  };
}

/** The members beside `error`, in every format: routing metadata and account id, as far as known. */
export function errorContextMembers(error: GatewayError, { vendor, userId }: ErrorContext): JsonObject {
  return {
    ...(error.routing !== undefined && { [`${vendor}_metadata`]: error.routing as unknown as JsonObject }),
    ...(userId !== undefined && { user_id: userId }),
  };
}

/** The envelope of every error; the messages format has its own. */
export function encodeEnvelope(error: GatewayError, context: ErrorContext): JsonObject {
  return { error: errorObject(error), ...errorContextMembers(error, context) };
}

export type EncodeError = (error: GatewayError, context: ErrorContext) => JsonObject;

/**
 * True for the error envelopes of all dialects, whichever one the upstream speaks: proxies in front of it answer in
 * their own.
 */
export function isErrorBody(body: JsonObject): boolean {
  const { error } = body;
  return body.type === 'error' || isJsonObject(error) || (typeof error === 'string' && error !== '');
}
