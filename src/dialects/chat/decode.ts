import type { Event } from '../../ir/events.ts';
import { isJsonObject, readJson } from '../../kit/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { AnswerReader } from './read-answer.ts';
import { DONE } from './wire.ts';

/**
 * Reads the frames of one upstream stream. The end is announced by `finish_reason` and comes with the end marker,
 * because usage may follow the reason and may be repeated.
 */
export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  return {
    decode(frame: SseFrame): Event[] {
      if (reader.isEnded) return [];
      if (frame.data.trim() === DONE) return reader.finish();
      const reading = readJson(frame.data);
      if (!reading.ok || !isJsonObject(reading.value)) return [];
      const events = reader.read(reading.value);
      return context.relay
        ? [{ type: 'relay', dialect: 'chat', frame, value: reading.value, events }]
        : events;
    },
    end: () => reader.cut(),
  };
}
