import type { ErrorContext } from '../dialects/dialect.ts';
import type { GatewayError } from '../ir/errors.ts';
import type { JsonObject } from '../kit/json.ts';

/** Body of an error. */
export type EncodeError = (error: GatewayError, context: ErrorContext) => JsonObject;

/** The envelope of every error that belongs to no generation format. */
export function encodeEnvelope(error: GatewayError, { vendor, userId }: ErrorContext): JsonObject {
  return {
    error: {
      ...error.details,
      code: error.status,
      message: error.message,
      metadata: { error_type: error.row.errorType, ...error.metadata },
    },
    ...(error.routing !== undefined && { [`${vendor}_metadata`]: error.routing as unknown as JsonObject }),
    ...(userId !== undefined && { user_id: userId }),
  };
}
