import { type Event, terminalOf } from '../../ir/events.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { REDACTED } from '../../kit/secrets/redact.ts';
import { withoutLogprobs } from './logprobs.ts';

/** Text that ends with a shorter beginning of a secret is not held back: ordinary text does so too often. */
const MIN_HELD_CHARACTERS = 4;

/**
 * A longer beginning of a secret, or more than half of it, counts as the secret. A shorter one does not: keys of one
 * provider share as many characters, and answers may be about them.
 */
const MAX_BEGINNING_CHARACTERS = 16;

/** Of a shorter secret no beginning counts as the secret: ordinary text has the same words. */
const MIN_DISTINCTIVE_CHARACTERS = 20;

/** More events, or longer ones, are not held back: an upstream must not fill the memory with them. */
const MAX_HELD_EVENTS = 32;
const MAX_HELD_CHARACTERS = 65_536;

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
  const maxBeginning =
    secret.length < MIN_DISTINCTIVE_CHARACTERS
      ? secret.length - 1
      : Math.min(MAX_BEGINNING_CHARACTERS, Math.floor(secret.length / 2));
  return { secret, maxBeginning, beginnings };
}

/** Characters of a text that are replaced, counted from its beginning. */
interface MaskedRange {
  from: number;
  to: number;
  /** The replacement was written. */
  isMarked: boolean;
}

/** A piece of an event's text: its place in the text that it belongs to. */
interface Place {
  readonly text: FollowedText;
  readonly from: number;
  readonly to: number;
}

interface HeldEvent {
  readonly event: Event;
  /** Of its pieces, in order; undefined = nothing of the piece is hidden. */
  readonly places: readonly (Place | undefined)[];
}

/**
 * Removes secrets that come in pieces, over several events of a stream. Events whose text ends with the beginning of a
 * secret are held back until the next text shows whether it is one. Then they pass in order: unchanged, or without the
 * characters of the secret. Texts of one kind count as one, and the arguments of each call by themselves: what else
 * comes between does not hide a secret.
 */
export class SplitMask {
  readonly #secrets: readonly SplitSecret[];
  /** Texts that end with the beginning of a secret, by their kind or item. */
  readonly #texts = new Map<string | number, FollowedText>();
  readonly #held: HeldEvent[] = [];
  #heldCharacters = 0;

  constructor(secrets: readonly SplitSecret[]) {
    this.#secrets = secrets;
  }

  /** The events that may pass: mostly those given. */
  mask(events: Event[]): Event[] {
    if (this.#secrets.length === 0) return events;
    let passed: Event[] | undefined;
    for (let index = 0; index < events.length; index++) {
      const event = events[index] as Event;
      const places = this.#follow(event);
      if (this.#held.length === 0 && !this.#isSuspect()) {
        passed?.push(event);
        continue;
      }
      passed ??= events.slice(0, index);
      this.#held.push({ event, places });
      this.#heldCharacters += charactersOf(event);
      passed.push(...(this.#mayHold(event) ? this.#releaseSettled() : this.release()));
    }
    return passed ?? events;
  }

  /** The events that are held back: no text follows them. */
  release(): Event[] {
    const events = this.#pass(this.#held.length);
    for (const [key, text] of this.#texts) {
      text.settle();
      if (text.isIdle) this.#texts.delete(key);
    }
    return events;
  }

  /** Something of a text is hidden, or may have to be. */
  #isSuspect(): boolean {
    for (const { isBegun, isHidden } of this.#texts.values()) if (isBegun || isHidden) return true;
    return false;
  }

  #mayHold(newest: Event): boolean {
    if (!mayGoOn(newest)) return false;
    if (this.#held.length > MAX_HELD_EVENTS || this.#heldCharacters > MAX_HELD_CHARACTERS) return false;
    for (const { isBegun } of this.#texts.values()) if (isBegun) return true;
    return false;
  }

  /** The held events before the first that may hold the beginning of a secret. */
  #releaseSettled(): Event[] {
    const first = this.#held.findIndex(({ places }) =>
      places.some((place) => place?.text.isBegun === true && place.to > place.text.begunAt),
    );
    return this.#pass(Math.max(0, first));
  }

  #pass(count: number): Event[] {
    return this.#held.splice(0, count).map(({ event, places }) => {
      this.#heldCharacters -= charactersOf(event);
      return cleaned(event, places);
    });
  }

  #follow(event: Event): (Place | undefined)[] {
    if (event.type === 'relay') return event.events.flatMap((inner) => this.#follow(inner));
    if (!isPiece(event)) return NO_PLACES;
    const { text: piece } = event;
    const key = event.type === 'text-delta' ? event.kind : event.item;
    const known = this.#texts.get(key);
    if (known === undefined && !this.#mayBegin(piece)) return UNSUSPECTED;
    const text = known ?? new FollowedText(this.#secrets);
    const place = text.add(piece);
    if (text.isIdle) this.#texts.delete(key);
    else if (known === undefined) this.#texts.set(key, text);
    return [place];
  }

  /** True if a secret may begin at the end of a piece, by its last character. */
  #mayBegin(piece: string): boolean {
    const lastCode = piece.charCodeAt(piece.length - 1);
    for (const { beginnings } of this.#secrets) if (beginnings[lastCode] !== undefined) return true;
    return false;
  }
}

const NO_PLACES: (Place | undefined)[] = [];
const UNSUSPECTED: (Place | undefined)[] = [undefined];

/** A secret, and how many of its first characters the text so far ends with. */
interface FollowedSecret extends SplitSecret {
  matched: number;
}

/** A text that may hold a secret, as far as it has come. */
class FollowedText {
  readonly #followed: readonly FollowedSecret[];
  /** What is replaced of the text. */
  #ranges: MaskedRange[] = [];
  /** Found in the current piece, not in order. */
  #hits: MaskedRange[] = [];
  #length = 0;
  /** True if it ends with what may be the beginning of a secret, and events wait for the rest. */
  isBegun = false;

  constructor(secrets: readonly SplitSecret[]) {
    this.#followed = secrets.map((secret) => ({ ...secret, matched: 0 }));
  }

  get isHidden(): boolean {
    return this.#ranges.length > 0;
  }

  /** Nothing of it is hidden, and it does not end with a beginning of a secret. */
  get isIdle(): boolean {
    return this.#ranges.length === 0 && this.#followed.every(({ matched }) => matched === 0);
  }

  /** Where the longest beginning of a secret at the end of the text begins. */
  get begunAt(): number {
    return this.#length - Math.max(...this.#followed.map(({ matched }) => matched));
  }

  add(piece: string): Place {
    const from = this.#length;
    if (piece === '') return { text: this, from, to: from };
    const lastCode = piece.charCodeAt(piece.length - 1);
    for (const followed of this.#followed) {
      if (followed.matched > 0 || followed.beginnings[lastCode] !== undefined) this.#search(followed, piece);
    }
    if (this.#hits.length > 0) this.#hideHits();
    this.#length += piece.length;
    this.isBegun = this.#followed.some(
      ({ matched, maxBeginning }) => matched >= MIN_HELD_CHARACTERS && matched <= maxBeginning,
    );
    return { text: this, from, to: this.#length };
  }

  /** No event waits for the rest of a secret any more. What is hidden at the end goes on with the next piece. */
  settle(): void {
    this.isBegun = false;
    const isOpen = this.#followed.some(({ matched, maxBeginning }) => matched > maxBeginning);
    this.#ranges = isOpen ? this.#ranges.filter(({ to }) => to === this.#length) : [];
  }

  /** Looks for a secret in the next piece of text and what it continues. */
  #search(followed: FollowedSecret, piece: string): void {
    const { secret, beginnings, maxBeginning } = followed;
    const text = secret.slice(0, followed.matched) + piece;
    const from = this.#length - followed.matched;
    let rest = 0;
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, rest)) {
      rest = at + secret.length;
      this.#hits.push({ from: from + at, to: from + rest, isMarked: false });
    }
    followed.matched = longestAtEnd(beginnings[text.charCodeAt(text.length - 1)], text.slice(rest));
    const end = from + text.length;
    if (followed.matched > maxBeginning) {
      this.#hits.push({ from: end - followed.matched, to: end, isMarked: false });
    }
  }

  /** Adds what was found in a piece to the ranges: in order, and those that overlap as one. */
  #hideHits(): void {
    const all = [...this.#ranges, ...this.#hits].sort((one, other) => one.from - other.from);
    this.#hits = [];
    this.#ranges = [];
    for (const range of all) {
      const last = this.#ranges.at(-1);
      if (last === undefined || range.from >= last.to) {
        this.#ranges.push(range);
        continue;
      }
      last.to = Math.max(last.to, range.to);
      last.isMarked ||= range.isMarked;
    }
  }

  /** A piece at this place, without what is hidden of it. */
  visible(piece: string, from: number): string {
    if (this.#ranges.length === 0) return piece;
    const end = from + piece.length;
    let visible = '';
    let at = from;
    for (const range of this.#ranges) {
      if (range.to <= at || range.from >= end) continue;
      visible += piece.slice(at - from, Math.max(at, range.from) - from);
      if (!range.isMarked) visible += REDACTED;
      range.isMarked = true;
      at = Math.min(range.to, end);
    }
    return visible + piece.slice(at - from);
  }
}

/** An event without what is hidden of its pieces: mostly the same one. */
function cleaned(event: Event, places: readonly (Place | undefined)[]): Event {
  if (event.type === 'relay') return cleanedRelay(event, places);
  const [place] = places;
  if (place === undefined || !isPiece(event)) return event;
  const text = place.text.visible(event.text, place.from);
  if (text === event.text) return event;
  return event.type === 'text-delta' ? { ...event, text, logprobs: undefined } : { ...event, text };
}

/** The frame is written anew from its value: this hardly ever happens. */
function cleanedRelay(
  event: Extract<Event, { type: 'relay' }>,
  places: readonly (Place | undefined)[],
): Event {
  let value: JsonObject | undefined;
  let next = 0;
  const events = event.events.map((inner) => {
    if (!isPiece(inner)) return inner;
    const clean = cleaned(inner, [places[next++]]);
    if (clean !== inner && isPiece(clean)) {
      value = replaced(value ?? event.value, inner.text, clean.text) as JsonObject;
    }
    return clean;
  });
  if (value === undefined) return event;
  const { dialect, frame, whole } = event;
  const shown = withoutLogprobs(value) as JsonObject;
  const data = JSON.stringify(shown);
  return { type: 'relay', dialect, frame: { ...frame, data }, value: shown, events, whole };
}

/** Characters that an event keeps in memory. */
function charactersOf(event: Event): number {
  if (event.type === 'relay') return event.frame.data.length;
  return isPiece(event) ? event.text.length : 0;
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

/** A value with a text replaced wherever it stands. */
function replaced(value: Json | undefined, text: string, replacement: string): Json {
  if (typeof value === 'string') return value === text ? replacement : value;
  if (Array.isArray(value)) return value.map((entry) => replaced(entry, text, replacement));
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaced(member, text, replacement)]),
  );
}
