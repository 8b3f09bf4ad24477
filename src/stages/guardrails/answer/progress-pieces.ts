import type { Event } from '../../../ir/events.ts';
import { isJsonObject, type JsonObject } from '../../../kit/json/json.ts';

export type ProgressEvent = Extract<Event, { type: 'opaque' }>;

/** A text of an event that the representation does not model, which the next such event may go on with. */
export interface ProgressPiece {
  /** Where the text stands: equal for all of its pieces. */
  readonly key: string;
  readonly text: string;
}

/** The pieces of an event: in every dialect they are its member `delta`, or the texts in that. */
export function progressPieces(event: ProgressEvent): ProgressPiece[] {
  const { delta } = event.value;
  const key = progressKey(event);
  if (typeof delta === 'string') return [{ key, text: delta }];
  if (!isJsonObject(delta)) return [];
  return pieceNames(delta).map((name) => ({
    key: `${key} ${String(delta.type)} ${name}`,
    text: String(delta[name]),
  }));
}

export function withPieces(event: ProgressEvent, texts: readonly string[]): ProgressEvent {
  const { value } = event;
  const { delta } = value;
  if (typeof delta === 'string') return { ...event, value: { ...value, delta: texts[0] ?? '' } };
  if (!isJsonObject(delta)) return event;
  const pieces = pieceNames(delta).map((name, index) => [name, texts[index] ?? '']);
  return { ...event, value: { ...value, delta: { ...delta, ...Object.fromEntries(pieces) } } };
}

function pieceNames(delta: JsonObject): string[] {
  return Object.keys(delta).filter((name) => name !== 'type' && typeof delta[name] === 'string');
}

/** Where an event stands: equal for those of one kind about the same item, and place in it (`content_index`). */
export function progressKey(event: ProgressEvent): string {
  const { value } = event;
  let key = `${'item' in event ? `output[${event.item}]` : 'output'} ${String(value.type)}`;
  for (const name of Object.keys(value)) {
    if (PLACE.test(name)) key += ` ${name} ${String(value[name])}`;
  }
  return key;
}

/** Members that name a place inside an item; that of the item itself is known by the event. */
const PLACE = /^(?!output_).+_index$/;
