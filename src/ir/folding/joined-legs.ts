import type { Event, EventBatch, Failure, Finish, ItemHead } from '../events.ts';
import { NO_USAGE, plusUsage, type Usage } from '../usage.ts';

type ItemEvent = Extract<Event, { readonly item: number }>;

/** Events of a leg to forward, and its terminal event once it has ended. */
export interface JoinedBatch {
  readonly passing: EventBatch;
  readonly terminal: Finish | Failure | undefined;
}

/**
 * Makes one answer of several legs: items are numbered from leg to leg without gaps, there is one start, and usage is
 * the sum so far. Terminal events are held back: the stage that joins the legs forwards that of the last leg.
 */
export class JoinedLegs {
  readonly #isWithheld: (head: ItemHead) => boolean;
  /** Items of the answer so far. */
  #items = 0;
  readonly #places = new Map<number, number>();
  /** True once this leg has begun an item that callers do not get. */
  #hasWithheld = false;
  /** Calls for the caller that this leg began after such an item, and their events. */
  readonly #late = new Set<number>();
  #lateEvents: ItemEvent[] = [];
  #usedBefore: Usage = NO_USAGE;
  #used: Usage = NO_USAGE;
  #hasStarted = false;

  /** `isWithheld`: true for items of legs that callers do not get. */
  constructor(isWithheld: (head: ItemHead) => boolean = () => false) {
    this.#isWithheld = isWithheld;
  }

  /** Called before the events of each leg after the first. */
  begin(): void {
    this.#places.clear();
    this.#hasWithheld = false;
    this.#usedBefore = plusUsage(this.#usedBefore, this.#used);
    this.#used = NO_USAGE;
  }

  push(batch: EventBatch): JoinedBatch {
    const passing: Event[] = [];
    let terminal: JoinedBatch['terminal'];
    for (const event of flat(batch)) {
      if (event.type === 'finish' || event.type === 'failure') terminal = event;
      else if (event.type === 'usage') passing.push({ type: 'usage', usage: this.#sum(event.usage) });
      else if (event.type !== 'start') this.#place(event, passing);
      else if (!this.#hasStarted) {
        this.#hasStarted = true;
        passing.push(event);
      }
    }
    return { passing, terminal };
  }

  /** Events of the calls that wait behind items which the stage adds for those that callers do not get. */
  takeLateCalls(): EventBatch {
    const events = this.#lateEvents;
    this.#lateEvents = [];
    this.#late.clear();
    const passing: Event[] = [];
    for (const event of events) this.#put(event, passing);
    return passing;
  }

  /** An item that no leg has said: the place that it takes. */
  ownItem(): number {
    return this.#items++;
  }

  #sum(usage: Usage): Usage {
    this.#used = usage;
    return plusUsage(this.#usedBefore, usage);
  }

  #place(event: Event, passing: Event[]): void {
    if (!('item' in event)) {
      passing.push(event);
      return;
    }
    if (event.type === 'item-start') {
      if (this.#isWithheld(event.head)) {
        this.#hasWithheld = true;
        return;
      }
      if (this.#hasWithheld && event.head.type === 'tool-call') this.#late.add(event.item);
    }
    if (this.#late.has(event.item)) this.#lateEvents.push(event);
    else this.#put(event, passing);
  }

  #put(event: ItemEvent, passing: Event[]): void {
    if (event.type === 'item-start') this.#places.set(event.item, this.ownItem());
    const place = this.#places.get(event.item);
    if (place !== undefined) passing.push(place === event.item ? event : { ...event, item: place });
  }
}

/** Frames of an upstream belong to one leg: of an answer of several only what they mean goes on. */
function flat(batch: EventBatch): EventBatch {
  return batch.flatMap((event) => (event.type === 'relay' ? flat(event.events) : [event]));
}
