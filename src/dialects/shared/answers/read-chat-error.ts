import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';
import { objectAt, objectsAt, textAt } from '../../../kit/json/members.ts';
import type { UpstreamErrorInfo } from '../../dialect.ts';
import { cleanCode, cleanMessage } from './reported-failure.ts';

/** Reads an error body in any of the shapes of chat servers; undefined if it has no error. */
export function readChatError(body: unknown): UpstreamErrorInfo | undefined {
  const first = Array.isArray(body) ? body[0] : body;
  if (typeof first === 'string') return first.trim() === '' ? undefined : { message: cleanMessage(first) };
  if (!isJsonObject(first)) return undefined;
  const error = objectAt(first, 'error') ?? first;
  const message =
    textAt(first, 'error') ??
    textAt(error, 'message') ??
    textAt(error, 'detail') ??
    textAt(objectsAt(error, 'detail')[0], 'msg') ??
    textAt(objectsAt(first, 'errors')[0], 'message');
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
