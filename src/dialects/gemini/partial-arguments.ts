import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { define, objectsAt, stringAt } from '../../kit/members.ts';

/** A step into the arguments: the name of a member, or a place in a list. */
type Step = string | number;

/** Places in a list beyond this are somebody's mistake. */
const MOST_ENTRIES = 10_000;

const MOST_STEPS = 64;

/**
 * Puts arguments together that come in pieces, each with the path of the value that it is part of: `$.days[0].city`. Text
 * may come in several pieces.
 */
export class PartialArguments {
  readonly #value: JsonObject = {};

  /** Takes what one `functionCall` brings. */
  read(call: JsonObject): void {
    for (const piece of objectsAt(call, 'partialArgs')) {
      const path = stepsOf(stringAt(piece, 'jsonPath') ?? '');
      const value = valueIn(piece);
      if (path !== undefined && value !== undefined) put(this.#value, path, value);
    }
  }

  toString(): string {
    return JSON.stringify(this.#value);
  }
}

/** The members that hold a value. Numbers and words are never cut, text may be. */
function valueIn(piece: JsonObject): Json | undefined {
  if (piece.stringValue !== undefined) return String(piece.stringValue);
  if (piece.numberValue !== undefined) return piece.numberValue;
  if (piece.boolValue !== undefined) return piece.boolValue;
  return piece.nullValue === undefined ? undefined : null;
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The steps of a path; undefined when it cannot be read, or leads nowhere. */
function stepsOf(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  let at = 1;
  while (at < path.length && steps.length < MOST_STEPS) {
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

function put(root: JsonObject, path: readonly Step[], value: Json): void {
  let holder: JsonObject | Json[] = root;
  for (const [position, step] of path.entries()) {
    const next = path[position + 1];
    const before = valueAt(holder, step);
    if (next === undefined) {
      const isMore = typeof before === 'string' && typeof value === 'string';
      set(holder, step, isMore ? before + value : value);
      return;
    }
    const isList = typeof next === 'number';
    const inner: JsonObject | Json[] =
      isList && Array.isArray(before) ? before : !isList && isJsonObject(before) ? before : isList ? [] : {};
    if (!set(holder, step, inner)) return;
    holder = inner;
  }
}

function valueAt(holder: JsonObject | Json[], step: Step): Json | undefined {
  if (Array.isArray(holder)) return typeof step === 'number' ? holder[step] : undefined;
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

/** False where the step does not fit. */
function set(holder: JsonObject | Json[], step: Step, value: Json): boolean {
  if (!Array.isArray(holder)) {
    define(holder, String(step), value);
    return true;
  }
  if (typeof step !== 'number' || step >= MOST_ENTRIES) return false;
  while (holder.length < step) holder.push(null);
  holder[step] = value;
  return true;
}
