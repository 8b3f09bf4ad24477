import type { Event, ItemHead } from '../../ir/events.ts';
import type { Annotation } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt, textAt } from '../../kit/json/members.ts';
import { renderAnnotation } from './citations.ts';

type CallHead = Extract<ItemHead, { type: 'tool-call' }>;

/** One thing that is said about a call: that it begins, or a piece of its input. */
interface Step {
  readonly index: number;
  readonly id: string | undefined;
  readonly name?: string;
  readonly input?: string;
}

/** The calls that a stream has told its caller of: each has an index of its own, in the order in which they began. */
export class SentCalls {
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

/** The places in `reasoning_details` that a stream has told its caller of: each part of each item has its own. */
export class SentDetails {
  /** By `item/kind/part`. */
  readonly #indexes = new Map<string, number>();
  /** Of each item the one that was asked for last. */
  readonly #last = new Map<number, number>();
  /** The part of the thoughts that was written last. */
  #lastThought: string | undefined;

  /** The place of a part. */
  indexOf(item: number, part: number, kind: string): number {
    const key = keyOf(item, part, kind);
    const index = this.#indexes.get(key) ?? this.#indexes.size;
    this.#indexes.set(key, index);
    this.#last.set(item, index);
    return index;
  }

  /** The place of the part of an item that was written last, or of its first thought. */
  lastIndexOf(item: number): number {
    return this.#last.get(item) ?? this.indexOf(item, 0, 'thought');
  }

  /** A thought is written. True when it is not part of the one before it. */
  turnTo(item: number, part: number, kind: string): boolean {
    const key = keyOf(item, part, kind);
    const isFurtherPart = this.#lastThought !== undefined && this.#lastThought !== key;
    this.#lastThought = key;
    return isFurtherPart;
  }
}

function keyOf(item: number, part: number, kind: string): string {
  return `${item}/${kind}/${part}`;
}

/**
 * How much text a stream has told its caller: citations point into all of it, while each part of the answer counts from
 * its own beginning.
 */
export class SentText {
  #length = 0;
  /** The part that is being written, and where it begins. */
  #part = { item: -1, part: -1, start: 0 };
  /** Annotations of that part that are about all of it. */
  #waiting: Annotation[] = [];

  add(item: number, part: number, text: string): void {
    const isSame = item === this.#part.item && part === this.#part.part;
    if (!isSame) this.#part = { item, part, start: this.#length };
    this.#length += text.length;
  }

  /** The annotations to write now: what is about the whole part waits for its end, unless that is never told. */
  annotate(item: number, part: number, annotation: Annotation, canWait: boolean): JsonObject[] {
    this.add(item, part, '');
    const isAboutAll = annotation.type === 'url-citation' && annotation.endIndex === undefined;
    if (!isAboutAll || !canWait) return this.#rendered([annotation]);
    this.#waiting.push(annotation);
    return [];
  }

  /** The annotations that waited for the end of the part. */
  endPart(): JsonObject[] {
    return this.#rendered(this.#waiting.splice(0));
  }

  #rendered(annotations: readonly Annotation[]): JsonObject[] {
    const { start } = this.#part;
    return annotations.flatMap((annotation) =>
      renderAnnotation(annotation, { start, length: this.#length - start }),
    );
  }
}
