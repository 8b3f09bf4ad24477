import type { Event, ItemHead, Seal } from '../../ir/events.ts';
import type { Annotation, ItemStatus, Logprobs, Source } from '../../ir/items.ts';
import { GrowingText } from '../../kit/text/growing-text.ts';
import type { WirePart } from './wire.ts';

// --- Open items -----------------------------------------------------------------------------------------------------

/** The open item. Its only part is open as long as the item is. */
interface OpenItem {
  readonly type: 'message' | 'reasoning';
  readonly item: number;
  readonly text: GrowingText;
}

const KINDS = { message: 'text', reasoning: 'thought' } as const;

// --- Items ----------------------------------------------------------------------------------------------------------

/**
 * Turns the pieces of an answer into events: begins an item when something new starts, and ends it. Calls and images
 * are written whole by their readers, between `beginItem` and `endItem`.
 */
export class ItemWriter {
  readonly #sourcesOf: (text: string) => Annotation[];
  #events: Event[] = [];
  #items = 0;
  #open: OpenItem | undefined;

  /** `sourcesOf` returns the annotations of a text at its end. */
  constructor(sourcesOf: (text: string) => Annotation[]) {
    this.#sourcesOf = sourcesOf;
  }

  get count(): number {
    return this.#items;
  }

  emit(event: Event): void {
    this.#events.push(event);
  }

  /** The events since the last call. */
  take(): Event[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Ends the open item and begins another; returns its position. */
  beginItem(head: ItemHead): number {
    this.close('completed');
    const item = this.#items++;
    this.emit({ type: 'item-start', item, head });
    return item;
  }

  endItem(item: number, status: ItemStatus): void {
    this.emit({ type: 'item-end', item, status });
  }

  writeText(text: string, logprobs: Logprobs | undefined): void {
    this.#write('message', text, logprobs);
  }

  writeThought(text: string): void {
    this.#write('reasoning', text, undefined);
  }

  /** Seals the open thoughts, or adds a bare seal. Whatever follows is another item. */
  sealThoughts(signature: Seal): void {
    if (this.#open?.type === 'reasoning') {
      this.emit({ type: 'seal', item: this.#open.item, seal: signature });
      this.close('completed');
    } else {
      this.writeSeal(signature, undefined);
    }
  }

  /** Writes thoughts without text. */
  writeSeal(seal: Seal, id: string | undefined): void {
    const item = this.beginItem(id === undefined ? { type: 'reasoning' } : { type: 'reasoning', id });
    this.emit({ type: 'seal', item, seal });
    this.endItem(item, 'completed');
  }

  writeImage(source: Source): void {
    const item = this.beginItem({ type: 'image' });
    this.emit({ type: 'image-data', item, source });
    this.endItem(item, 'completed');
  }

  writeOpaque(value: WirePart): void {
    const opaque = { type: 'opaque', dialect: 'gemini', value, role: 'assistant' } as const;
    this.endItem(this.beginItem({ type: 'opaque', item: opaque }), 'completed');
  }

  close(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const { item } = open;
    if (open.type === 'message') {
      for (const annotation of this.#sourcesOf(open.text.toString())) {
        this.emit({ type: 'annotation', item, part: 0, annotation });
      }
    }
    this.emit({ type: 'part-end', item, part: 0, kind: KINDS[open.type] });
    this.endItem(item, status);
  }

  #write(type: OpenItem['type'], text: string, logprobs: Logprobs | undefined): void {
    const open = this.#open?.type === type ? this.#open : this.#begin(type);
    if (type === 'message') open.text.add(text);
    this.emit({
      type: 'text-delta',
      item: open.item,
      part: 0,
      kind: KINDS[type],
      text,
      ...(logprobs !== undefined && { logprobs }),
    });
  }

  #begin(type: OpenItem['type']): OpenItem {
    const item = this.beginItem({ type });
    this.emit({ type: 'part-start', item, part: 0, kind: KINDS[type] });
    this.#open = { type, item, text: new GrowingText() };
    return this.#open;
  }
}
