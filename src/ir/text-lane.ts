import type { Flow } from '../kit/frames/flow.ts';
import type { FrameForm } from '../kit/frames/frame-form.ts';
import type { EventBatch } from './events.ts';

/** What an answer goes on with, for all that is known: pieces of one text, told by frames of one form. */
export interface TextPieces {
  readonly form: FrameForm;
  /** Name of the frames. */
  readonly event: string | undefined;
  readonly item: number;
  readonly part: number;
}

/**
 * The way of most events of a stream once it has begun: the bytes of a frame in, its text out, and nothing made of it in
 * between. It holds until something is taken from the flow by any other way.
 */
export interface TextLane {
  readonly pieces: TextPieces;
  /** The next piece, if it is at hand, alone, and as plain in JSON as it is. What is anything else waits for `poll` of the flow. */
  poll(): string | undefined;
}

/** A flow of events that may have a lane for its text. */
export interface AnswerFlow extends Flow<EventBatch> {
  /** Asked anew whenever something was taken another way. */
  texts?(): TextLane | undefined;
}
