import type { GatewayError } from '../../ir/errors.ts';
import {
  type Event,
  type EventBatch,
  type Failure,
  type Finish,
  hasContent,
  terminalOf,
} from '../../ir/events.ts';
import type { Flow } from '../../kit/frames/flow.ts';
import { UpstreamFailure } from '../../upstream/upstream.ts';
import type { NoContent } from './candidate-queue.ts';

/** An answer that is about to be forwarded: the events held back so far, and the rest. */
export interface Opening {
  readonly held: readonly Event[];
  readonly rest: Flow<EventBatch>;
  /** Set if the answer ended without content: why another candidate might do better. */
  readonly noContent: NoContent | undefined;
}

/**
 * Limits for events, and for characters of relayed frames, that are held back: an answer that goes on without content
 * is unusable.
 */
const MAX_HELD = { events: 10_000, characters: 8 * 1024 * 1024 };

/** An answer until its first content or its end. Of a whole answer nothing is forwarded before its end. */
export class HeldAnswer {
  readonly rest: Flow<EventBatch>;
  readonly events: Event[] = [];
  /** True if content is forwarded before the end of the answer. */
  readonly #isStream: boolean;
  #characters = 0;

  constructor(rest: Flow<EventBatch>, isStream: boolean) {
    this.rest = rest;
    this.#isStream = isStream;
  }

  /** The outcome after this step; undefined = read on. */
  take(step: IteratorResult<EventBatch, unknown>): Opening | GatewayError | undefined {
    if (step.done === true) return this.#opening('empty');
    for (const event of step.value) {
      this.events.push(event);
      if (event.type === 'relay') this.#characters += event.frame.data.length;
    }
    const terminal = terminalIn(step.value);
    if (this.#isStream && hasContent(step.value)) return this.#opening(refusalIn(terminal));
    if (terminal?.type === 'failure') return terminal.error;
    if (terminal !== undefined) {
      return this.#opening(refusalIn(terminal) ?? (isEmpty(this.events, terminal) ? 'empty' : undefined));
    }
    const isTooMuch = this.events.length > MAX_HELD.events || this.#characters > MAX_HELD.characters;
    if (!isTooMuch) return undefined;
    return new UpstreamFailure(
      'upstream-unavailable',
      'Provider returned error: an answer without content',
      0,
      { lostBy: 'broken-off' },
    );
  }

  #opening(noContent: NoContent | undefined): Opening {
    return { held: this.events, rest: this.rest, noContent };
  }
}

function terminalIn(batch: EventBatch): Finish | Failure | undefined {
  // A terminal event is the last of its batch.
  const last = batch.at(-1);
  return last === undefined ? undefined : terminalOf(last);
}

/** True if there is no content although there was room for some. */
function isEmpty(held: readonly Event[], terminal: Finish): boolean {
  return terminal.reason !== 'length' && !hasContent(held);
}

/** Finish reasons with which a model, or a filter in front of it, declines. */
const REFUSALS: ReadonlySet<Finish['reason']> = new Set<Finish['reason']>(['refusal', 'content-filter']);

/** Set if the answer turned out to be a refusal; of a stream only its opening is known. */
function refusalIn(terminal: Finish | Failure | undefined): 'refusal' | undefined {
  return terminal?.type === 'finish' && REFUSALS.has(terminal.reason) ? 'refusal' : undefined;
}
