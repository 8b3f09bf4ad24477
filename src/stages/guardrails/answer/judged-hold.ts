import type { Event, ItemHead } from '../../../ir/events.ts';
import type { JudgedRow } from '../judges/joined-texts.ts';
import type { JudgedText } from '../judges/judge.ts';
import type { JudgePanel } from '../judges/judge-panel.ts';
import { receivedCharacters, textsOf } from '../receipt/received-characters.ts';
import { type ChangeText, mapTexts } from '../texts/map-texts.ts';
import { mapToolInput } from '../texts/tool-input.ts';
import { progressPieces, withPieces } from './progress-pieces.ts';
import { withoutPlace } from './without-place.ts';

/** Characters of what was released that a service gets with the next piece of the same text. */
const BEFORE_CHARACTERS = 1000;

/** A piece of an answer ends with a sentence or line if it can, with a word if it gets this many times as long. */
const WORD_FACTOR = 2;
/** It ends anywhere if it gets this many times as long. */
const ANYWHERE_FACTOR = 4;

const SENTENCE_END = /[.!?。！？]["')\]]*\s*$|\n\s*$/;
const WORD_END = /\s$/;

/** State of an item across pieces of the answer. */
interface HeldItem {
  type: ItemHead['type'] | undefined;
  isFunction: boolean;
  /** Text of it was replaced: seals over it no longer hold. */
  isChanged: boolean;
}

/**
 * Holds the events of one leg back until services have judged their texts: until the end of the answer, or in pieces
 * of about `windowCharacters`. The order of events stays.
 */
export class JudgedHold {
  readonly #panel: JudgePanel;
  readonly #windowCharacters: number | null;
  #events: Event[] = [];
  #characters = 0;
  readonly #items = new Map<number, HeldItem>();
  /** Calls of tools that are not complete: their input is judged as a whole. */
  readonly #openCalls = new Set<number>();
  /** The ends of texts that were released, by where they stand. */
  readonly #released = new Map<string, string>();
  /** The text that the next one may go on with, across pieces of the answer. */
  #last: LastText | undefined;
  #isAfterCall = false;
  #isAfterSentence = false;
  #unjudged = 0;

  constructor(panel: JudgePanel) {
    this.#panel = panel;
    this.#windowCharacters = panel.windowCharacters;
  }

  /** The events that may go on. Rejects if services fail and nothing may pass without them. */
  async push(events: readonly Event[]): Promise<Event[]> {
    let due: Event[] | undefined;
    for (const event of events) {
      this.#hold(event);
      if (!this.#isDue(event)) continue;
      due = due === undefined ? this.#events : [...due, ...this.#events];
      this.#events = [];
      this.#characters = 0;
    }
    return due === undefined ? [] : this.#judged(due);
  }

  /** Characters that passed without a verdict since the last call. */
  takeUnjudged(): number {
    const unjudged = this.#unjudged;
    this.#unjudged = 0;
    return unjudged;
  }

  #hold(event: Event): void {
    this.#events.push(event);
    if (event.type === 'text-delta' || event.type === 'tool-input-delta') {
      this.#characters += event.text.length;
      if (event.type === 'text-delta') this.#isAfterSentence = SENTENCE_END.test(event.text);
    } else if (event.type === 'item-start') {
      const item = this.#itemAt(event.item);
      item.type = event.head.type;
      if (event.head.type !== 'tool-call') return;
      item.isFunction = event.head.kind === 'function';
      this.#openCalls.add(event.item);
    } else if (event.type === 'item-end') {
      this.#isAfterCall = this.#openCalls.delete(event.item);
    }
  }

  #isDue(last: Event): boolean {
    if (last.type === 'finish' || last.type === 'failure') return true;
    const least = this.#windowCharacters;
    if (least === null || this.#characters < least || this.#openCalls.size > 0) return false;
    if (last.type === 'part-end' || last.type === 'item-end') {
      // The next block may go on with a sentence.
      const isCallOver = last.type === 'item-end' && this.#isAfterCall;
      return isCallOver || this.#isAfterSentence || this.#characters >= ANYWHERE_FACTOR * least;
    }
    if (last.type !== 'text-delta') return false;
    return (
      this.#isAfterSentence ||
      (this.#characters >= WORD_FACTOR * least && WORD_END.test(last.text)) ||
      this.#characters >= ANYWHERE_FACTOR * least
    );
  }

  async #judged(events: readonly Event[]): Promise<Event[]> {
    const texts: JudgedText[] = [];
    const { rows: rowsOfPlaces, predecessors } = this.#rowsIn(events);
    const placeIndexes = new Map<string, number>();
    const covered = this.#mapped(events, (text, place) => {
      const before = this.#released.get(place) ?? this.#released.get(predecessors.get(place) ?? '');
      placeIndexes.set(place, texts.length);
      texts.push({ text, role: 'assistant', place, ...(before !== undefined && { before }) });
      return text;
    }).characters;
    const rows = rowsOfPlaces.flatMap((row): JudgedRow[] => {
      const known = row.filter(({ place }) => placeIndexes.has(place));
      const indexes = known.map(({ place }) => placeIndexes.get(place) as number);
      return known.length < 2 ? [] : [{ texts: indexes, items: known.map(({ item }) => item) }];
    });
    const verdict = await this.#panel.judge(texts, 'received', { rows });
    const passing = [...verdict.texts];
    for (const [number, row] of rows.entries()) {
      for (const [at, index] of row.texts.entries()) passing[index] = verdict.rows[number]?.[at] as string;
    }
    const characters = receivedCharacters(events);
    this.#unjudged += verdict.isJudged ? characters - covered : characters;
    let index = 0;
    return this.#mapped(events, (text, place) => {
      const passed = passing[index++] ?? text;
      const before = `${this.#released.get(place) ?? ''}${passed}`;
      this.#released.set(place, before.slice(-BEFORE_CHARACTERS));
      return passed;
    }).events;
  }

  /**
   * The places of texts that a model writes one right after the other, and for the first of this piece of the answer
   * the place before it.
   */
  #rowsIn(events: readonly Event[]): {
    readonly rows: readonly (readonly RowPlace[])[];
    readonly predecessors: ReadonlyMap<string, string>;
  } {
    const rows: RowPlace[][] = [];
    const predecessors = new Map<string, string>();
    let row: RowPlace[] | undefined;
    for (const event of events) {
      if (event.type === 'tool-input-delta') {
        this.#last = undefined;
        continue;
      }
      if (event.type !== 'text-delta') continue;
      const place = placeOf(event);
      const key = `${this.#itemAt(event.item).type} ${event.kind === 'summary'}`;
      const last = this.#last;
      this.#last = { place, key };
      if (last?.key !== key) row = undefined;
      else if (row === undefined && last.place !== place) predecessors.set(place, last.place);
      if (row === undefined) {
        row = [];
        rows.push(row);
      }
      if (!row.some((known) => known.place === place)) row.push({ place, item: event.item });
    }
    return { rows, predecessors };
  }

  /** The events with every text replaced by what `change` returns, and the number of characters that it was shown. */
  #mapped(
    events: readonly Event[],
    change: (text: string, place: string) => string,
  ): { readonly events: Event[]; readonly characters: number } {
    const joined = joinedTexts(events);
    const done = new Map<string, boolean>();
    const out: Event[] = [];
    let characters = 0;
    const changed: (place: string) => ChangeText = (place) => (text) => {
      characters += text.length;
      return change(text, place);
    };
    const passText = (place: string, changeAll: (text: string) => string) => {
      const text = joined.get(place) ?? '';
      characters += text.length;
      const passed = text === '' ? text : changeAll(text);
      done.set(place, passed !== text);
      return passed;
    };
    /** The first piece of a text stands for all of them if it changes. */
    const pass = (event: DeltaEvent, place: string, changeAll: (text: string) => string) => {
      if (!done.has(place)) {
        const passed = passText(place, changeAll);
        if (done.get(place) === true) {
          this.#itemAt(event.item).isChanged = true;
          out.push(withText(event, passed));
        }
      }
      if (done.get(place) === false) out.push(event);
    };
    for (const event of events) {
      switch (event.type) {
        case 'text-delta':
          pass(event, placeOf(event), (text) => change(text, placeOf(event)));
          break;
        case 'tool-input-delta': {
          const place = placeOf(event);
          const { isFunction } = this.#itemAt(event.item);
          pass(event, place, (text) =>
            isFunction ? mapToolInput(text, (inner) => change(inner, place)) : change(text, place),
          );
          break;
        }
        case 'annotation': {
          const annotation = mapTexts(event.annotation, changed(`output[${event.item}].annotation`));
          const passed = annotation === event.annotation ? event : { ...event, annotation };
          out.push(...(this.#itemAt(event.item).isChanged ? withoutPlace(passed) : [passed]));
          break;
        }
        case 'seal':
          if (!this.#itemAt(event.item).isChanged) out.push(event);
          break;
        case 'finish':
          out.push({ ...event, ...mapTexts(textsOf(event), changed('output.end')) });
          break;
        case 'item-start':
        case 'item-end':
        case 'part-start':
        case 'image-data':
          out.push(mapTexts(event, changed(`output[${event.item}]`)));
          break;
        case 'opaque': {
          const pieces = progressPieces(event);
          const passed = mapTexts(withPieces(event, []), changed('output'));
          const texts = pieces.map(({ key: place, text: own }) => {
            const isFirst = !done.has(place);
            const text = isFirst ? passText(place, (joinedText) => change(joinedText, place)) : '';
            return done.get(place) === false ? own : text;
          });
          out.push(withPieces(passed, texts));
          break;
        }
        default:
          out.push(event);
      }
    }
    return { events: out, characters };
  }

  #itemAt(index: number): HeldItem {
    let item = this.#items.get(index);
    if (item === undefined) {
      item = { type: undefined, isFunction: false, isChanged: false };
      this.#items.set(index, item);
    }
    return item;
  }
}

/** A place of a text, and the item that it is part of. */
interface RowPlace {
  readonly place: string;
  readonly item: number;
}

/** A text, and what the next one must be equal in to go on with it. */
interface LastText {
  readonly place: string;
  readonly key: string;
}

type DeltaEvent = Extract<Event, { type: 'text-delta' | 'tool-input-delta' }>;

/** Where a text that comes in pieces stands. */
function placeOf(event: DeltaEvent): string {
  const place = `output[${event.item}]`;
  return event.type === 'text-delta' ? `${place}.${event.kind}[${event.part}]` : `${place}.input`;
}

function joinedTexts(events: readonly Event[]): Map<string, string> {
  const joined = new Map<string, string>();
  const add = (place: string, text: string) => joined.set(place, (joined.get(place) ?? '') + text);
  for (const event of events) {
    if (event.type === 'text-delta' || event.type === 'tool-input-delta') add(placeOf(event), event.text);
    else if (event.type === 'opaque') {
      for (const { key, text } of progressPieces(event)) add(key, text);
    }
  }
  return joined;
}

/** Drops log probabilities: those of changed text would reveal it. */
function withText(event: DeltaEvent, text: string): Event {
  if (event.type === 'tool-input-delta') return { ...event, text };
  const { logprobs: _, ...rest } = event;
  return { ...rest, text };
}
