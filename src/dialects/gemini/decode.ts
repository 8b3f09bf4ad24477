import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { readListedFrame, STEP_LIMITS } from '../shared/answers/read-frame.ts';
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
      const chunk = readListedFrame(frame, STEP_LIMITS);
      if (chunk === undefined) return [];
      return chunk instanceof GatewayError ? reader.fail(chunk) : reader.read(chunk);
    },
    end: () => reader.cut(),
  };
}

// --- Whole bodies ---------------------------------------------------------------------------------------------------

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
