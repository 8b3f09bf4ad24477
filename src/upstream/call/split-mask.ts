import { type Event, terminalOf } from '../../ir/events.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { REDACTED } from './redact.ts';

/** Text that ends with a shorter beginning of a secret is not held back: ordinary text does so too often. */
const MIN_HELD_CHARACTERS = 4;

/**
 * A longer beginning of a secret, or more than half of it, counts as the secret. A shorter one does not: keys of one
 * provider share as many characters, and answers may be about them.
 */
const MAX_BEGINNING_CHARACTERS = 16;

/** More events are not held back, for example empty ones. */
const MAX_HELD_EVENTS = 32;

/** A secret that is looked for across events. Its characters are ASCII. */
export interface SplitSecret {
  readonly secret: string;
  /** A longer beginning counts as the secret. */
  readonly maxBeginning: number;
  /** Beginnings of the secret by the code of their last character, longest first. */
  readonly beginnings: readonly (readonly string[] | undefined)[];
}

export function splitSecret(secret: string): SplitSecret {
  const beginnings: string[][] = Array.from({ length: 128 });
  for (let length = secret.length - 1; length > 0; length--) {
    const last = secret.charCodeAt(length - 1);
    beginnings[last] = [...(beginnings[last] ?? []), secret.slice(0, length)];
  }
  const maxBeginning = Math.min(MAX_BEGINNING_CHARACTERS, Math.floor(secret.length / 2));
  return { secret, maxBeginning, beginnings };
}

/** A secret, and how many of its first characters the text so far ends with. */
interface FollowedSecret extends SplitSecret {
  matched: number;
}

/** Characters of the text that are replaced, counted from its beginning. */
interface MaskedRange {
  from: number;
  to: number;
  /** The replacement was written. */
  isMarked: boolean;
}

/** An event, and where its text begins. */
interface HeldEvent {
  readonly event: Event;
  readonly from: number;
}

/**
 * Removes secrets that come in pieces, over several events of a stream. Events whose text ends with the beginning of a
 * secret are held back until the next text shows whether it is one. Then they pass in order: unchanged, or without the
 * characters of the secret. The text of all items counts as one.
 */
export class SplitMask {
  readonly #followed: FollowedSecret[];
  readonly #held: HeldEvent[] = [];
  #ranges: MaskedRange[] = [];
  /** Characters of text so far. */
  #length = 0;

  constructor(secrets: readonly SplitSecret[]) {
    this.#followed = secrets.map((secret) => ({ ...secret, matched: 0 }));
  }

  /** The events that may pass: mostly those given. */
  mask(events: Event[]): Event[] {
    if (this.#followed.length === 0) return events;
    let passed: Event[] | undefined;
    for (let index = 0; index < events.length; index++) {
      const event = events[index] as Event;
      const from = this.#length;
      this.#follow(event);
      const isBegun = this.#isBegun();
      if (!isBegun && this.#held.length === 0 && this.#ranges.length === 0) {
        passed?.push(event);
        continue;
      }
      passed ??= events.slice(0, index);
      this.#held.push({ event, from });
      if (!isBegun || !mayGoOn(event) || this.#held.length > MAX_HELD_EVENTS) passed.push(...this.release());
    }
    return passed ?? events;
  }

  /** The events that are held back: no text follows them. */
  release(): Event[] {
    const events = this.#held.splice(0).map(({ event, from }) => this.#cleaned(event, from));
    // The rest of a secret whose replacement was written is yet to come.
    const isOpen = this.#followed.some(({ matched, maxBeginning }) => matched > maxBeginning);
    this.#ranges = isOpen ? this.#ranges.filter(({ to }) => to === this.#length) : [];
    return events;
  }

  /** The text so far ends with what may be the beginning of a secret. */
  #isBegun(): boolean {
    for (const { matched, maxBeginning } of this.#followed) {
      if (matched >= MIN_HELD_CHARACTERS && matched <= maxBeginning) return true;
    }
    return false;
  }

  #follow(event: Event): void {
    if (event.type === 'relay') {
      for (const inner of event.events) this.#follow(inner);
    } else if (isPiece(event)) {
      const { text } = event;
      if (text === '') return;
      const lastCode = text.charCodeAt(text.length - 1);
      for (const followed of this.#followed) {
        if (followed.matched > 0 || followed.beginnings[lastCode] !== undefined) this.#search(followed, text);
      }
      this.#length += text.length;
    }
  }

  /** Looks for a secret in the next piece of text and what it continues. */
  #search(followed: FollowedSecret, piece: string): void {
    const { secret, beginnings, maxBeginning } = followed;
    const text = secret.slice(0, followed.matched) + piece;
    const from = this.#length - followed.matched;
    let rest = 0;
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, rest)) {
      rest = at + secret.length;
      this.#hide(from + at, from + rest);
    }
    followed.matched = longestAtEnd(beginnings[text.charCodeAt(text.length - 1)], text.slice(rest));
    const end = from + text.length;
    if (followed.matched > maxBeginning) this.#hide(end - followed.matched, end);
  }

  #hide(from: number, to: number): void {
    const known = this.#ranges.find((range) => from < range.to && range.from < to);
    if (known === undefined) {
      this.#ranges.push({ from, to, isMarked: false });
    } else {
      known.from = Math.min(known.from, from);
      known.to = Math.max(known.to, to);
    }
  }

  #cleaned(event: Event, from: number): Event {
    if (this.#ranges.length === 0) return event;
    if (event.type === 'relay') return this.#cleanedRelay(event, from);
    if (!isPiece(event)) return event;
    const text = this.#visible(event.text, from);
    if (text === event.text) return event;
    return event.type === 'text-delta' ? { ...event, text, logprobs: undefined } : { ...event, text };
  }

  /** The frame is written anew from its value: this hardly ever happens. */
  #cleanedRelay(event: Extract<Event, { type: 'relay' }>, from: number): Event {
    let value: JsonObject | undefined;
    let at = from;
    const events = event.events.map((inner) => {
      const clean = this.#cleaned(inner, at);
      if (!isPiece(inner) || !isPiece(clean)) return clean;
      at += inner.text.length;
      if (clean !== inner) value = replaced(value ?? event.value, inner.text, clean.text) as JsonObject;
      return clean;
    });
    if (value === undefined) return event;
    const { dialect, frame, whole } = event;
    return { type: 'relay', dialect, frame: { ...frame, data: JSON.stringify(value) }, value, events, whole };
  }

  /** A piece of text that begins at `from`, without what lies in a range. */
  #visible(text: string, from: number): string {
    const end = from + text.length;
    let visible = '';
    let at = from;
    for (const range of this.#ranges.toSorted((one, other) => one.from - other.from)) {
      if (range.to <= at || range.from >= end) continue;
      visible += text.slice(at - from, Math.max(at, range.from) - from);
      if (!range.isMarked) visible += REDACTED;
      range.isMarked = true;
      at = Math.min(range.to, end);
    }
    return visible + text.slice(at - from);
  }
}

/** An event that holds text of a model. */
type Piece = Extract<Event, { type: 'text-delta' | 'tool-input-delta' }>;

function isPiece(event: Event): event is Piece {
  return event.type === 'text-delta' || event.type === 'tool-input-delta';
}

/** True if the text of an event may go on in the next one. */
function mayGoOn(event: Event): boolean {
  switch (event.type) {
    case 'text-delta':
    case 'tool-input-delta':
    case 'usage':
    case 'opaque':
      return true;
    case 'relay': {
      const last = event.events.at(-1);
      return last === undefined || (terminalOf(event) === undefined && mayGoOn(last));
    }
    default:
      return false;
  }
}

/** Length of the first of the beginnings that a text ends with; 0 if there is none. */
function longestAtEnd(beginnings: readonly string[] | undefined, text: string): number {
  for (const beginning of beginnings ?? []) {
    if (beginning.length <= text.length && text.endsWith(beginning)) return beginning.length;
  }
  return 0;
}

/** A value with a text replaced wherever it stands, and without log probabilities, which repeat the text. */
function replaced(value: Json | undefined, text: string, replacement: string): Json {
  if (typeof value === 'string') return value === text ? replacement : value;
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, text, replacement));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'logprobs' ? withoutEntries(member) : replaced(member, text, replacement),
    ]),
  );
}

function withoutEntries(logprobs: Json | undefined): Json {
  return Array.isArray(logprobs) ? [] : null;
}
