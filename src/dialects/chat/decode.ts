import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import type { DecodeContext, StreamDecoder } from '../dialect.ts';
import { readFrame } from '../shared/answers/read-frame.ts';
import { RepeatedFrames, RepeatedRelay } from '../shared/answers/repeated-frames.ts';
import { asChatChunk } from './cohere.ts';
import { AnswerReader, contentIn } from './read-answer.ts';
import { DONE } from './wire.ts';

/**
 * Reads the frames of one upstream stream. The end is announced by `finish_reason` and comes with the end marker,
 * because usage may follow the reason and may be repeated.
 */
export function createDecoder(context: DecodeContext): StreamDecoder {
  const reader = new AnswerReader(context);
  const isCohere = context.quirks?.answerForm === 'cohere';
  const repeated = new RepeatedFrames('content', contentIn);
  return {
    decode(frame: Frame): Event[] {
      if (reader.isEnded) return [];
      const text = repeated.textIn(frame);
      if (text !== undefined) {
        const events = reader.readText(text);
        return context.relay ? [new RepeatedRelay('chat', frame, events, repeated.template)] : events;
      }
      if (frame.data.trim() === DONE) return reader.finish();
      const given = readFrame(frame);
      if (given === undefined) return [];
      if (given instanceof GatewayError) return reader.miss(given);
      const value = isCohere ? asChatChunk(given) : given;
      const events = reader.read(value);
      if (value === given) repeated.note(frame, value, events);
      if (!context.relay) return events;
      const shown = value === given ? frame : { data: JSON.stringify(value) };
      return [{ type: 'relay', dialect: 'chat', frame: shown, value, events, template: repeated.template }];
    },
    end: () => reader.cut(),
  };
}
