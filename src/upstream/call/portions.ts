import type { Event } from '../../ir/events.ts';

/** Size of a portion: a millisecond or two of work for any encoder. */
const PORTION = { events: 128, characters: 64 * 1024 };

/**
 * Events that wait to be handed on, a portion at a time. One event of an upstream may bring thousands of items, or
 * megabytes of text, and fold and encoder handle a batch without a break: long text is cut into several deltas.
 */
export class Portions {
  readonly #events: readonly Event[];
  #next = 0;
  /** Characters of the next event that were handed on already. */
  #offset = 0;

  constructor(events: readonly Event[]) {
    this.#events = events;
  }

  /** True when nothing waits. */
  get isEmpty(): boolean {
    return this.#next >= this.#events.length;
  }

  /** The next portion; empty when nothing waits. */
  take(): readonly Event[] {
    const portion: Event[] = [];
    let characters = 0;
    while (!this.isEmpty && portion.length < PORTION.events && characters < PORTION.characters) {
      const event = this.#piece(PORTION.characters - characters);
      characters += lengthOf(event);
      portion.push(event);
    }
    return portion;
  }

  /** The next event, or as much of its text as there is room for. */
  #piece(room: number): Event {
    const event = this.#events[this.#next] as Event;
    if (!isDivisible(event)) {
      this.#next++;
      return event;
    }
    const end = endOfPiece(event.text, this.#offset + room);
    const text = event.text.slice(this.#offset, end);
    const isLast = end === event.text.length;
    this.#offset = isLast ? 0 : end;
    if (isLast) this.#next++;
    return text.length === event.text.length ? event : { ...event, text };
  }
}

/** Whether events can be handed on at once, as nearly all can. */
export function isPortion(events: readonly Event[]): boolean {
  let characters = 0;
  for (const event of events) characters += lengthOf(event);
  return events.length <= PORTION.events && characters <= PORTION.characters;
}

type TextEvent = Extract<Event, { type: 'text-delta' | 'tool-input-delta' }>;

/** Log probabilities speak of the text as a whole. */
function isDivisible(event: Event): event is TextEvent {
  return event.type === 'tool-input-delta' || (event.type === 'text-delta' && event.logprobs === undefined);
}

function lengthOf(event: Event): number {
  return event.type === 'text-delta' || event.type === 'tool-input-delta' ? event.text.length : 0;
}

/** Where a piece may end at the latest: never between the halves of a character. */
function endOfPiece(text: string, most: number): number {
  if (most >= text.length) return text.length;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return isHalf ? most + 1 : most;
}
