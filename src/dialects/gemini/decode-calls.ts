import type { ItemStatus } from '../../ir/items.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { define, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import { freeTextOf, type ToolIdentity } from '../shared/tools/tool-names.ts';
import type { ItemWriter } from './decode-content.ts';
import { callIdOf } from './ids.ts';
import { encryptedSeal, signatureSeal } from './reasoning.ts';

interface OpenCall {
  readonly item: number;
  readonly identity: ToolIdentity;
  readonly pieces: PartialArguments;
  /** Complete arguments, if they arrived in one piece after all. */
  whole: string | undefined;
}

/** Reads the calls of one answer. They come one after the other: whole, or in pieces until the next begins. */
export class CallReader {
  readonly #writer: ItemWriter;
  readonly #identify: (name: string) => ToolIdentity;
  /** Returns an id for a call that the upstream sent without one. */
  readonly #makeId: (place: number) => string;
  readonly #numbers: ExactNumbers | undefined;
  #count = 0;
  #open: OpenCall | undefined;

  constructor(
    writer: ItemWriter,
    identify: (name: string) => ToolIdentity,
    makeId: (place: number) => string,
    numbers: ExactNumbers | undefined,
  ) {
    this.#writer = writer;
    this.#identify = identify;
    this.#makeId = makeId;
    this.#numbers = numbers;
  }

  get hasCalls(): boolean {
    return this.#count > 0;
  }

  get isWriting(): boolean {
    return this.#open !== undefined;
  }

  /** Reads a call, or a piece of one; false if its arguments exceed the limits. */
  read(call: JsonObject, signature: string | undefined): boolean {
    const name = textAt(call, 'name');
    if (name !== undefined) this.#begin(name, call, signature);
    const open = this.#open;
    if (open === undefined) return true;
    if (!open.pieces.read(call)) return false;
    open.whole = argumentsIn(call, this.#numbers) ?? open.whole;
    if (call.willContinue !== true) this.end('completed');
    return true;
  }

  end(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    const text = open.whole ?? stringifyExactly(open.pieces.value, this.#numbers);
    const input = open.identity.kind === 'custom' ? freeTextOf(text) : text;
    if (input !== '') this.#writer.emit({ type: 'tool-input-delta', item: open.item, text: input });
    this.#writer.endItem(open.item, status);
  }

  /** The signature of a call becomes two seals: see the table in `reasoning.ts`. */
  #begin(name: string, call: JsonObject, signature: string | undefined): void {
    this.end('completed');
    const callId = callIdOf(textAt(call, 'id')) ?? this.#makeId(this.#count);
    this.#count++;
    if (signature !== undefined) this.#writer.writeSeal(encryptedSeal(signature), callId);
    const identity = this.#identify(name);
    const item = this.#writer.beginItem({ type: 'tool-call', ...identity, callId });
    if (signature !== undefined) {
      this.#writer.emit({ type: 'seal', item, seal: signatureSeal(signature) });
    }
    this.#open = { item, identity, pieces: new PartialArguments(), whole: undefined };
  }
}

/** Arguments are an object; a call without any may leave it out. */
function argumentsIn(call: JsonObject, numbers: ExactNumbers | undefined): string | undefined {
  const { args } = call;
  if (args === undefined || args === null) return undefined;
  return stringAt(call, 'args') ?? stringifyExactly(args, numbers);
}

// --- Arguments in pieces --------------------------------------------------------------------------------------------

/** A step of a path in the arguments: a member name or a list index. */
type Step = string | number;

/** Members and entries of one call's arguments. */
const MAX_ENTRIES = 10_000;

/**
 * Entries of lists that no piece has named, in all lists of a call. Lists are written from the beginning, so indexes
 * far beyond the end are a mistake: a few characters would stand for thousands of entries.
 */
const MAX_GAP_ENTRIES = 100;

const MAX_PATH_STEPS = 64;

/**
 * Assembles arguments from pieces, each with the path of its value: `$.days[0].city`. Text may come in several pieces.
 */
export class PartialArguments {
  readonly value: JsonObject = {};
  #entries = 0;
  #gaps = 0;

  /** Reads the pieces of one `functionCall`; false if they exceed the limits. */
  read(call: JsonObject): boolean {
    for (const piece of objectsAt(call, 'partialArgs')) {
      const path = stepsOf(stringAt(piece, 'jsonPath') ?? '');
      const value = valueIn(piece);
      if (path !== undefined && value !== undefined && !this.#put(path, value)) return false;
    }
    return true;
  }

  #put(path: readonly Step[], value: Json): boolean {
    let holder: JsonObject | Json[] = this.value;
    for (const [position, step] of path.entries()) {
      const next = path[position + 1];
      const before = valueAt(holder, step);
      if (before === undefined && !this.#hasRoom(holder, step)) return false;
      if (next === undefined) {
        const isMore = typeof before === 'string' && typeof value === 'string';
        set(holder, step, isMore ? before + value : value);
        return true;
      }
      const inner = holderFor(next, before);
      set(holder, step, inner);
      holder = inner;
    }
    return true;
  }

  /** Counts a new entry and the gap before it; false if they exceed the limits. */
  #hasRoom(holder: JsonObject | Json[], step: Step): boolean {
    if (Array.isArray(holder)) this.#gaps += Math.max(0, Number(step) - holder.length);
    this.#entries++;
    return this.#gaps <= MAX_GAP_ENTRIES && this.#entries <= MAX_ENTRIES;
  }
}

/** The value of a piece. Numbers and words are never split, text may be. */
function valueIn(piece: JsonObject): Json | undefined {
  if (piece.stringValue !== undefined) return String(piece.stringValue);
  if (piece.numberValue !== undefined) return piece.numberValue;
  if (piece.boolValue !== undefined) return piece.boolValue;
  return piece.nullValue === undefined ? undefined : null;
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The steps of a path; undefined if it is invalid. */
function stepsOf(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  let at = 1;
  while (at < path.length && steps.length < MAX_PATH_STEPS) {
    STEP.lastIndex = at;
    const step = STEP.exec(path);
    if (step === null) return undefined;
    const [, name, place, single, double] = step;
    steps.push(place === undefined ? (name ?? unescaped(single ?? double ?? '')) : Number(place));
    at = STEP.lastIndex;
  }
  return steps.length === 0 || at < path.length ? undefined : steps;
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

/** The container for the next step: the present one if its kind is right, else a new one. */
function holderFor(next: Step, before: Json | undefined): JsonObject | Json[] {
  if (typeof next === 'number') return Array.isArray(before) ? before : [];
  return isJsonObject(before) ? before : {};
}

function valueAt(holder: JsonObject | Json[], step: Step): Json | undefined {
  if (Array.isArray(holder)) return typeof step === 'number' ? holder[step] : undefined;
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

function set(holder: JsonObject | Json[], step: Step, value: Json): void {
  if (!Array.isArray(holder)) {
    define(holder, String(step), value);
  } else if (typeof step === 'number') {
    while (holder.length < step) holder.push(null);
    holder[step] = value;
  }
}
