import type { GatewayError } from '../../ir/errors.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { readChatError } from '../shared/answers/read-chat-error.ts';
import { reportedFailure } from '../shared/answers/reported-failure.ts';

/** Body of an HTTP error. */
export { encodeEnvelope as encodeError } from '../shared/answers/error-envelope.ts';
export { readChatError as readError } from '../shared/answers/read-chat-error.ts';

/** A failure that an upstream reports inside a stream or a body with status 200. */
export function failureOf(error: unknown): GatewayError {
  return reportedFailure(readChatError(isJsonObject(error) ? { error } : error));
}
