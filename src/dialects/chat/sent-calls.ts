import type { Event, ItemHead } from '../../ir/events.ts';
import { isJsonObject, type Json } from '../../kit/json/json.ts';
import { objectAt, stringAt, textAt } from '../../kit/json/members.ts';

type CallHead = Extract<ItemHead, { type: 'tool-call' }>;

/** One thing that is said about a call: that it begins, or a piece of its input. */
interface Step {
  readonly index: number;
  readonly id: string | undefined;
  readonly name?: string;
  readonly input?: string;
}

/** The calls that a stream has told its caller of: each has an index of its own, in the order in which they began. */
export class ToldCalls {
  /** Index of each item that is a call, and the id of the call at each index. */
  readonly #indexes = new Map<number, number>();
  readonly #ids: string[] = [];

  /** The index of a call that begins. */
  begin(item: number, { callId }: CallHead): number {
    const index = this.#ids.push(callId) - 1;
    this.#indexes.set(item, index);
    return index;
  }

  indexOf(item: number): number | undefined {
    return this.#indexes.get(item);
  }

  /**
   * True when the entries of an upstream's `tool_calls` say, in a form that every client reads, exactly what they were
   * understood to mean. `events`: what the chunk means; none of them has been told yet.
   */
  areSaidBy(entries: Json | undefined, events: readonly Event[]): boolean {
    if (entries === undefined || entries === null) return true;
    if (!Array.isArray(entries)) return false;
    const said = entries.map((entry) => this.#said(entry));
    if (!said.every((steps) => steps !== undefined)) return false;
    return JSON.stringify(said.flat()) === JSON.stringify(this.#meant(events));
  }

  /** What an entry says; undefined when some client could not read it. */
  #said(entry: Json): Step[] | undefined {
    if (!isJsonObject(entry) || typeof entry.index !== 'number') return undefined;
    const { index } = entry;
    const custom = objectAt(entry, 'custom');
    const body = custom ?? objectAt(entry, 'function');
    const given = body?.[custom === undefined ? 'arguments' : 'input'];
    if (given !== undefined && given !== null && typeof given !== 'string') return undefined;
    const input = given ?? '';
    const name = textAt(body, 'name');
    if (name !== undefined) {
      const id = textAt(entry, 'id');
      return textAt(entry, 'type') === undefined
        ? undefined
        : [{ index, id, name }, ...(input === '' ? [] : [{ index, id, input }])];
    }
    const known = this.#ids[index];
    const isOther = known === undefined || (stringAt(entry, 'id') || known) !== known;
    if (isOther || body?.name !== undefined) return undefined;
    return input === '' ? [] : [{ index, id: known, input }];
  }

  #meant(events: readonly Event[]): Step[] {
    const begun = new Map<number, Step>();
    return events.flatMap((event): Step[] => {
      if (event.type === 'item-start' && event.head.type === 'tool-call') {
        const { callId: id, name } = event.head;
        const step = { index: this.#ids.length + begun.size, id, name };
        begun.set(event.item, step);
        return [step];
      }
      if (event.type !== 'tool-input-delta') return [];
      const index = begun.get(event.item)?.index ?? this.#indexes.get(event.item) ?? -1;
      return [{ index, id: begun.get(event.item)?.id ?? this.#ids[index], input: event.text }];
    });
  }
}
