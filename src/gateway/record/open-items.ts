import type { Event, EventBatch, PartKind } from '../../ir/events.ts';

interface OpenItem {
  readonly parts: Map<string, { readonly part: number; readonly kind: PartKind }>;
}

/** Tracks the open items of an answer, so that it can be ended in the middle. */
export class OpenItems {
  /** Relayed answers have none that need tracking. */
  #open: Map<number, OpenItem> | undefined;

  push(batch: EventBatch): void {
    for (const event of batch) this.#take(event);
  }

  /** The events that end all open items, as cut off. */
  ending(): Event[] {
    return [...(this.#open ?? [])].flatMap(([item, { parts }]): Event[] => [
      ...[...parts.values()].map(({ part, kind }): Event => ({ type: 'part-end', item, part, kind })),
      { type: 'item-end', item, status: 'incomplete' },
    ]);
  }

  #take(event: Event): void {
    switch (event.type) {
      case 'item-start':
        this.#open ??= new Map();
        this.#open.set(event.item, { parts: new Map() });
        return;
      case 'part-start':
        this.#open?.get(event.item)?.parts.set(`${event.kind} ${event.part}`, event);
        return;
      case 'part-end':
        this.#open?.get(event.item)?.parts.delete(`${event.kind} ${event.part}`);
        return;
      case 'item-end':
        this.#open?.delete(event.item);
        return;
      default:
        return;
    }
  }
}
