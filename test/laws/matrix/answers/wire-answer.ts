import type { Frame } from '../../../../src/kit/frames/frames.ts';
import type { JsonObject } from '../../../../src/kit/json/json.ts';

/** An answer as an upstream writes it, both ways. */
export interface WireAnswer {
  /** Without streaming. */
  readonly body: JsonObject;
  /** The same as a stream. */
  readonly frames: readonly Frame[];
}

/** Frames of a stream whose events have no names. */
export function nameless(events: readonly JsonObject[]): Frame[] {
  return events.map((event) => ({ data: JSON.stringify(event) }));
}

/** Frames of a stream whose events are named by their `type`. */
export function typed(events: readonly JsonObject[]): Frame[] {
  return events.map((event) => ({ event: String(event.type), data: JSON.stringify(event) }));
}
