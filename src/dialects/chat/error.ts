import type { GatewayError } from '../../ir/errors.ts';
import { isJsonObject, type JsonObject } from '../../kit/json.ts';
import type { UpstreamErrorInfo } from '../dialect.ts';
import { cleanCode, cleanMessage, reportedFailure } from '../reported-failure.ts';
import { objectIn, objectsIn, textIn } from './members.ts';

/** Body of an HTTP error. */
export { encodeEnvelope as encodeError } from '../error-envelope.ts';

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
  return code === undefined ? undefined : cleanCode(String(code));
}

/** A failure that an upstream reports inside a stream or a body with status 200. */
export function failureOf(error: unknown): GatewayError {
  return reportedFailure(readError(isJsonObject(error) ? { error } : error));
}
