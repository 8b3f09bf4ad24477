import type { Event } from '../../../ir/events.ts';
import type { DialectName } from '../../../ir/items.ts';
import type { TextPieces } from '../../../ir/text-lane.ts';
import { ANY_TEXT, FrameForm } from '../../../kit/frames/frame-form.ts';
import type { Frame } from '../../../kit/frames/frames.ts';
import type { JsonObject } from '../../../kit/json/json.ts';

/** Forms in a row that no other frame had before it is given up to look for them. */
const MOST_MISSES = 4;

/** Finds out that the frames of an answer differ in nothing but a text. Only frames in a row: nothing came between them. */
export class LikeFrames {
  readonly #textAt: (value: JsonObject) => unknown;
  #form: FrameForm | undefined;
  #event: string | undefined;
  /** What the text is a piece of. */
  #item = 0;
  #part = 0;
  #isMet = false;
  #misses = 0;

  /** `textAt`: the text of an event that the frames may differ in. */
  constructor(textAt: (value: JsonObject) => unknown) {
    this.#textAt = textAt;
  }

  /** The form of the frame that was seen last, if it has one. */
  get form(): FrameForm | undefined {
    return this.#form;
  }

  /** The text of a frame that is like the last one; undefined for a frame that has to be read. */
  textIn(frame: Frame): string | undefined {
    if (this.#form === undefined) return undefined;
    const text = frame.event === this.#event ? this.#form.textIn(frame.data) : undefined;
    if (text === undefined || text === '') {
      if (!this.#isMet) this.#misses++;
      this.#form = undefined;
      return undefined;
    }
    this.#isMet = true;
    this.#misses = 0;
    return text;
  }

  /** What the next frames may be: as the last one, which was like the one before it. */
  get pieces(): TextPieces | undefined {
    const form = this.#form;
    if (form === undefined || !this.#isMet || !form.isOneLine) return undefined;
    return { form, event: this.#event, item: this.#item, part: this.#part };
  }

  /** What the last frame would mean with another text. */
  eventsOf(text: string): Event[] {
    return [{ type: 'text-delta', item: this.#item, part: this.#part, kind: 'text', text }];
  }

  /** Takes note of a frame that was read: what is in it, and what it means. `member`: the name of the text. */
  note({ event, data }: Frame, member: string, value: JsonObject, events: readonly Event[]): void {
    this.#form = undefined;
    const text = this.#textAt(value);
    const piece = this.#misses >= MOST_MISSES || text === ANY_TEXT ? undefined : pieceIn(text, events);
    if (piece === undefined) return;
    this.#form = FrameForm.of(data, member, this.#textAt);
    this.#event = event;
    this.#item = piece.item;
    this.#part = piece.part;
    this.#isMet = false;
  }
}

type TextDelta = Extract<Event, { type: 'text-delta' }>;

/** The event by which a text is told; undefined unless it is all that the events tell of. */
function pieceIn(text: unknown, events: readonly Event[]): TextDelta | undefined {
  const [only] = events;
  if (events.length !== 1 || only?.type !== 'text-delta') return undefined;
  return only.kind === 'text' && only.text === text && only.logprobs === undefined ? only : undefined;
}

/** A relayed frame of a known form. Parsed only for who asks. */
export class LikeRelay {
  readonly type = 'relay';
  #value: JsonObject | undefined;

  constructor(
    readonly dialect: DialectName,
    readonly frame: Frame,
    readonly events: readonly Event[],
    readonly form: FrameForm | undefined,
  ) {}

  get value(): JsonObject {
    this.#value ??= JSON.parse(this.frame.data) as JsonObject;
    return this.#value;
  }
}
