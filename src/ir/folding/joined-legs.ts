import type { Event, EventBatch, Failure, Finish } from '../events.ts';
import { NO_USAGE, plusUsage, type Usage } from '../usage.ts';

/** Events of a leg to forward, and its terminal event once it has ended. */
export interface JoinedBatch {
  readonly passing: EventBatch;
  readonly terminal: Finish | Failure | undefined;
}

/**
 * Makes one answer of several legs: items are numbered from leg to leg, there is one start, and usage is the sum so
 * far. Terminal events are held back: the stage that joins the legs forwards that of the last leg.
 */
export class JoinedLegs {
  /** Items of the legs before. */
  #before = 0;
  /** Items of this leg. */
  #items = 0;
  #usedBefore: Usage = NO_USAGE;
  #used: Usage = NO_USAGE;
  #hasStarted = false;

  /** Called before the events of each leg after the first. */
  begin(): void {
    this.#before += this.#items;
    this.#items = 0;
    this.#usedBefore = plusUsage(this.#usedBefore, this.#used);
    this.#used = NO_USAGE;
  }

  push(batch: EventBatch): JoinedBatch {
    const passing: Event[] = [];
    let terminal: JoinedBatch['terminal'];
    for (const event of flat(batch)) {
      if (event.type === 'finish' || event.type === 'failure') terminal = event;
      else if (event.type === 'usage') passing.push({ type: 'usage', usage: this.#sum(event.usage) });
      else if (event.type !== 'start') passing.push(this.#placed(event));
      else if (!this.#hasStarted) {
        this.#hasStarted = true;
        passing.push(event);
      }
    }
    return { passing, terminal };
  }

  /** An item that no leg has said: the place that it takes. */
  ownItem(): number {
    const place = this.#before + this.#items;
    this.#items += 1;
    return place;
  }

  #sum(usage: Usage): Usage {
    this.#used = usage;
    return plusUsage(this.#usedBefore, usage);
  }

  #placed(event: Event): Event {
    if (!('item' in event)) return event;
    if (event.type === 'item-start') this.#items = Math.max(this.#items, event.item + 1);
    return this.#before === 0 ? event : { ...event, item: this.#before + event.item };
  }
}

/** Frames of an upstream belong to one leg: of an answer of several only what they mean goes on. */
function flat(batch: EventBatch): EventBatch {
  return batch.flatMap((event) => (event.type === 'relay' ? flat(event.events) : [event]));
}
