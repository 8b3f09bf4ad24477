import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { DecodeContext } from '../dialect.ts';
import { AnswerReader } from './read-answer.ts';

/** Events of a whole body. A body without an answer or an error becomes a failure. */
export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  const reader = new AnswerReader(context);
  const events = reader.read(body);
  if (reader.isEnded) return events;
  const unreadable = new GatewayError(
    'upstream-unavailable',
    'The provider sent an answer that could not be read',
  );
  return [...events, ...(reader.hasAnswer ? reader.finish() : reader.fail(unreadable))];
}
