import type { Event } from '../../ir/events.ts';
import type { Frame } from '../../kit/frames.ts';
import { isJsonObject, readJson } from '../../kit/json.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { AnswerReader } from './read-answer.ts';

/**
 * Reads the frames of one upstream stream. There is no end marker, and the reason for the end may come with every chunk:
 * the answer is over when the bytes are.
 */
export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  return {
    decode(frame: Frame): Event[] {
      if (reader.isEnded) return [];
      const reading = readJson(frame.data);
      if (!reading.ok) return [];
      const chunk = Array.isArray(reading.value) ? reading.value[0] : reading.value;
      return isJsonObject(chunk) ? reader.read(chunk) : [];
    },
    end: () => reader.cut(),
  };
}
