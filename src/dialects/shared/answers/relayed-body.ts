import type { Event } from '../../../ir/events.ts';
import type { DialectName } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { DecodeContext } from '../../dialect.ts';

/** The events of a whole body; in the relay lane inside one event with the body itself. */
export function relayedBody(
  dialect: DialectName,
  value: JsonObject,
  events: Event[],
  { relay }: DecodeContext,
): Event[] {
  return relay ? [{ type: 'relay', dialect, frame: { data: '' }, value, events, whole: true }] : events;
}
