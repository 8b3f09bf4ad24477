import type { Event } from '../../ir/events.ts';
import type { Frame } from '../../kit/frames/frames.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { type Confidential, REDACTED } from './redact.ts';

/**
 * Removes the secrets of a call from what the upstream answers. Unlike error texts, answers are only searched for the
 * secrets as JSON writes them: that is all that each event can afford.
 */

/** Shorter secrets are words that answers may contain. */
const MIN_SECRET_CHARACTERS = 8;

/** Placeholder keys for servers that want a key and check none. */
const PLACEHOLDER = /^(?:sk-)?(?:[a-z]{1,19}|(?:no|not|any|dummy|fake|lm|local|your)(?:[-_ ][a-z]+)*)$/i;

/** Shorter secrets are not looked for across events: their beginnings are found in ordinary text. */
const SPLIT_SECRET = /^[\x21-\x7e]{20,512}$/;

/**
 * Characters at the beginning of a secret that may pass while it comes in pieces, but no more than half of it: keys of
 * one provider share as many, and answers may be about them.
 */
const MAX_SHOWN_CHARACTERS = 16;

const MASKS = new WeakMap<readonly string[], AnswerMask>();

export class AnswerMask {
  /** As JSON writes the secrets. */
  readonly #forms: readonly string[];
  /** Secrets that are looked for across events. */
  readonly splittable: readonly SplitSecret[];
  /** Characters of the longest form. */
  readonly longest: number;

  constructor(forms: readonly string[], splittable: readonly SplitSecret[]) {
    this.#forms = forms;
    this.splittable = splittable;
    this.longest = Math.max(0, ...forms.map(({ length }) => length));
  }

  /** The mask of a call. `keys` last: their part is made once. */
  static of({ keys = NO_SECRETS, tokens = NO_SECRETS }: Pick<Confidential, 'keys' | 'tokens'>): AnswerMask {
    const lasting = MASKS.get(keys) ?? maskOf(keys);
    MASKS.set(keys, lasting);
    if (tokens.length === 0) return lasting;
    return new AnswerMask([...lasting.#forms, ...tokens.flatMap(formsOf)], lasting.splittable);
  }

  /** JSON text without the secrets: mostly the same text. */
  text(text: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    return clean;
  }

  frame(frame: Frame): Frame {
    const data = this.text(frame.data);
    return data === frame.data ? frame : { ...frame, data };
  }
}

const NO_SECRETS: readonly string[] = [];

function maskOf(secrets: readonly string[]): AnswerMask {
  const masked = secrets.filter(
    (secret) => secret.length >= MIN_SECRET_CHARACTERS && !PLACEHOLDER.test(secret),
  );
  const splittable = masked.filter((secret) => SPLIT_SECRET.test(secret));
  return new AnswerMask([...new Set(masked.flatMap(formsOf))], splittable.map(splitSecret));
}

/**
 * A secret as it stands in JSON: escaped as little as possible, with escaped slashes, and as some servers do for HTML.
 */
function formsOf(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const html = plain.replace(
    /[<>&='+]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return [plain, plain.replaceAll('/', '\\/'), html];
}

/** JSON text that comes in pieces, without the secrets. Holds back as much as may be the beginning of one. */
export class MaskedText {
  readonly #mask: AnswerMask;
  #heldBack = '';

  constructor(mask: AnswerMask) {
    this.#mask = mask;
  }

  push(piece: string): string {
    if (this.#mask.longest === 0) return piece;
    const text = this.#mask.text(this.#heldBack + piece);
    const end = Math.max(0, text.length - this.#mask.longest + 1);
    this.#heldBack = text.slice(end);
    return text.slice(0, end);
  }

  end(): string {
    const rest = this.#heldBack;
    this.#heldBack = '';
    return rest;
  }
}

// --- Secrets that come in pieces ------------------------------------------------------------------------------------

interface SplitSecret {
  readonly secret: string;
  /** Beginnings of the secret by the code of their last character, longest first. */
  readonly beginnings: readonly (readonly string[] | undefined)[];
}

function splitSecret(secret: string): SplitSecret {
  const beginnings: string[][] = Array.from({ length: 128 });
  for (let length = secret.length - 1; length > 0; length--) {
    const last = secret.charCodeAt(length - 1);
    beginnings[last] = [...(beginnings[last] ?? []), secret.slice(0, length)];
  }
  return { secret, beginnings };
}

/** Follows secrets through the pieces of text of one stream. */
export class SplitMask {
  readonly #watched: { readonly of: SplitSecret; shown: number }[];

  constructor({ splittable }: AnswerMask) {
    this.#watched = splittable.map((of) => ({ of, shown: 0 }));
  }

  /** The events without what would complete a secret: mostly the events themselves. */
  mask(events: Event[]): Event[] {
    if (this.#watched.length === 0) return events;
    for (let index = 0; index < events.length; index++) {
      const event = events[index] as Event;
      const clean = event.type === 'relay' ? this.#relayed(event) : this.#piece(event);
      if (clean !== event) return [...events.slice(0, index), clean, ...this.mask(events.slice(index + 1))];
    }
    return events;
  }

  #piece(event: Event): Event {
    if (event.type !== 'text-delta' && event.type !== 'tool-input-delta') return event;
    const text = this.#text(event.text);
    return text === event.text ? event : { ...event, text };
  }

  /** The frame is written anew from its value: this hardly ever happens. */
  #relayed(event: Extract<Event, { type: 'relay' }>): Event {
    let value: JsonObject | undefined;
    const events = event.events.map((inner) => {
      const clean = this.#piece(inner);
      if (clean !== inner && 'text' in clean && 'text' in inner) {
        value = replaced(value ?? event.value, inner.text, clean.text) as JsonObject;
      }
      return clean;
    });
    if (value === undefined) return event;
    const { dialect, frame, whole } = event;
    return { type: 'relay', dialect, frame: { ...frame, data: JSON.stringify(value) }, value, events, whole };
  }

  #text(text: string): string {
    let clean = text;
    for (const watched of this.#watched) clean = follow(watched, clean);
    return clean;
  }
}

/** One more piece of text, without what lies behind the first characters of a secret that the stream is writing. */
function follow(watched: { readonly of: SplitSecret; shown: number }, text: string): string {
  const { secret, beginnings } = watched.of;
  const { shown } = watched;
  if (text === '') return text;
  const continued = shown === 0 ? 0 : commonLength(secret, shown, text);
  if (shown > 0 && shown + continued === secret.length) {
    watched.shown = 0;
    return hidden(secret, shown, continued) + follow(watched, text.slice(continued));
  }
  const ends = beginnings[text.charCodeAt(text.length - 1)];
  if (ends === undefined && shown === 0) return text;
  const begun = longestAtEnd(ends, shown === 0 ? text : secret.slice(0, shown) + text);
  watched.shown = begun.length;
  if (begun === '') return text;
  const before = Math.max(0, begun.length - text.length);
  const now = begun.length - before;
  return text.slice(0, text.length - now) + hidden(secret, before, now);
}

/** The first of the beginnings that a text ends with; empty if there is none. */
function longestAtEnd(beginnings: readonly string[] | undefined, text: string): string {
  for (const beginning of beginnings ?? []) {
    if (beginning.length <= text.length && text.endsWith(beginning)) return beginning;
  }
  return '';
}

/** How many characters at the beginning of `text` continue `secret` from `at` on. */
function commonLength(secret: string, at: number, text: string): number {
  let length = 0;
  while (length < text.length && at + length < secret.length && text[length] === secret[at + length])
    length++;
  return length;
}

/** `length` characters of a secret after the first `shown`, as they may be seen: only the first few of it. */
function hidden(secret: string, shown: number, length: number): string {
  const most = Math.min(MAX_SHOWN_CHARACTERS, Math.floor(secret.length / 2));
  const end = shown + length;
  if (end <= most) return secret.slice(shown, end);
  return shown > most ? '' : secret.slice(shown, most) + REDACTED;
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
