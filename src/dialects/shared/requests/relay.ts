import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { define } from '../../../kit/json/members.ts';

/**
 * The caller's own body for the relay lane: without the fields for the gateway and without nulls (null means absent),
 * and with `changes` applied. An undefined change removes the field. The caller's body itself stays unchanged.
 */
export function relayBody(
  request: GenerationRequest,
  gatewayFields: ReadonlySet<string>,
  changes: JsonObject,
): JsonObject {
  const body: JsonObject = {};
  for (const key of Object.keys(request.body)) {
    const value = request.body[key];
    if (value === null || value === undefined || gatewayFields.has(key) || Object.hasOwn(changes, key))
      continue;
    define(body, key, value);
  }
  for (const key of Object.keys(changes)) {
    const value = changes[key];
    if (value !== undefined) define(body, key, value);
  }
  return body;
}
