import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt } from '../../kit/json/members.ts';
import type { DecodeContext } from '../dialect.ts';
import { MessageReader } from './decode.ts';
import { failureOf, readError } from './error.ts';

/** Reads a whole message. */
export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  if (Array.isArray(objectAt(objectAt(body, 'output'), 'message')?.content)) {
    return new MessageReader(context).readWhole(body);
  }
  const error =
    readError(body) === undefined
      ? new GatewayError('upstream-unavailable', 'The provider sent an answer that is no message')
      : failureOf(body);
  return [{ type: 'failure', error }];
}
