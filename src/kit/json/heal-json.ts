import { jsonrepair } from 'jsonrepair';
import { findExcess, isJsonObject, JSON_LIMITS, type Json } from './json.ts';

/** Characters of a text that is healed: a longer one is left unchanged, so that no other request waits for it. */
const MAX_HEALED_CHARACTERS = 32_768;

/** JSON in a code fence, anywhere in the text. */
const FENCE = /```[a-zA-Z]*[ \t]*\r?\n([\s\S]*?)```/;

/** Brackets at which JSON may begin: a text with more is searched from the first ones alone. */
const MAX_BEGINNINGS = { complete: 32, repaired: 3 };

export interface HealedJson {
  readonly text: string;
  /** True if it was not valid as it was written: quotes, commas, brackets or missing values are guessed. */
  readonly isRepaired: boolean;
  /** Characters of the text around it, which are gone. */
  readonly removedCharacters: number;
}

/**
 * Extracts and repairs JSON; undefined if already valid or not repairable. Removes code fences and words around it, but
 * no member: what can only be read by dropping one is left as it is.
 */
export function healJson(text: string, isRight: (value: Json) => boolean): HealedJson | undefined {
  if (text.length > MAX_HEALED_CHARACTERS) return undefined;
  const whole = parsed(text);
  if (whole !== undefined && isRight(whole)) return undefined;
  const fenced = FENCE.exec(text)?.[1];
  for (const source of fenced === undefined ? [text] : [fenced, text]) {
    const written = completeIn(source, isRight);
    const healed = written ?? repairedIn(source, isRight);
    if (healed === undefined) continue;
    const { json, used } = healed;
    return { text: json, isRepaired: written === undefined, removedCharacters: text.length - used };
  }
  return undefined;
}

interface Found {
  readonly json: string;
  readonly used: number;
}

// --- Valid as written -----------------------------------------------------------------------------------------------

/** The only right value in a text, if no members stand beside it. */
function completeIn(source: string, isRight: (value: Json) => boolean): Found | undefined {
  const values = [...complete(source)];
  const right = values.filter(({ json }) => {
    const value = parsed(json);
    return value !== undefined && isRight(value);
  });
  const [only] = right;
  if (only === undefined || right.some(({ json }) => json !== only.json)) return undefined;
  const beside = values.reduceRight(
    (rest, { begin, json }) => `${rest.slice(0, begin)} ${rest.slice(begin + json.length)}`,
    source,
  );
  return membersIn(beside).length > 0 ? undefined : { json: only.json, used: only.json.length };
}

/** The objects and lists in a text whose brackets are closed, the outermost of each. */
function* complete(text: string): Generator<{ readonly begin: number; readonly json: string }> {
  let at = 0;
  for (let beginnings = 0; beginnings < MAX_BEGINNINGS.complete; beginnings++) {
    const begin = bracketFrom(text, at);
    if (begin === -1) return;
    const end = endOf(text, begin);
    if (end !== undefined) yield { begin, json: text.slice(begin, end) };
    at = end ?? begin + 1;
  }
}

/** The end of the object or list that begins at an index, brackets in strings aside. Undefined = it is never closed. */
function endOf(text: string, begin: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = begin; at < text.length; at++) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

function bracketFrom(text: string, from: number): number {
  const found = text.slice(from).search(/[{[]/);
  return found === -1 ? -1 : from + found;
}

// --- Repaired -------------------------------------------------------------------------------------------------------

/** The text from a bracket on, repaired: all of it, or up to the last closing bracket where words follow. */
function repairedIn(source: string, isRight: (value: Json) => boolean): Found | undefined {
  const members = membersIn(source);
  const last = Math.max(source.lastIndexOf('}'), source.lastIndexOf(']')) + 1;
  let begin = bracketFrom(source, 0);
  for (let beginnings = 0; begin !== -1 && beginnings < MAX_BEGINNINGS.repaired; beginnings++) {
    for (const end of last > begin ? [source.length, last] : [source.length]) {
      const candidate = source.slice(begin, end).trim();
      for (const repair of [closed, repaired]) {
        const json = repair(candidate);
        const value = json === undefined ? undefined : parsed(json);
        if (json === undefined || value === undefined || !isRight(value)) continue;
        const kept = namesIn(value);
        if (members.every((name) => kept.has(name))) return { json, used: candidate.length };
      }
    }
    begin = bracketFrom(source, begin + 1);
  }
  return undefined;
}

/**
 * Adds the quote and the brackets that are missing at the end: the general repair splits strings with
 * brackets.
 */
function closed(text: string): string {
  const open: string[] = [];
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{' || character === '[') open.push(character === '{' ? '}' : ']');
    else if (character === '}' || character === ']') open.pop();
  }
  return `${text}${isString ? '"' : ''}${open.reverse().join('')}`;
}

function repaired(text: string): string | undefined {
  try {
    return jsonrepair(text);
  } catch {
    return undefined;
  }
}

/** Undefined for invalid JSON, and for JSON that is nested more deeply than a request may be. */
function parsed(text: string): Json | undefined {
  if (findExcess(text, JSON_LIMITS) !== undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

// --- Members --------------------------------------------------------------------------------------------------------

/** Names of members where JSON has them: after a bracket, a comma or nothing. Longer names are not searched for. */
const MEMBER = {
  '"': /(?:^|[{[,])\s{0,99}"((?:[^"\\]|\\.){0,199})"\s{0,99}:/g,
  "'": /(?:^|[{[,])\s{0,99}'((?:[^'\\]|\\.){0,199})'\s{0,99}:/g,
};

function membersIn(text: string): string[] {
  const pattern = MEMBER[text.includes('"') ? '"' : "'"];
  return [...text.matchAll(pattern)].map(([, name = '']) => unescaped(name));
}

function unescaped(name: string): string {
  const value = parsed(`"${name}"`);
  return typeof value === 'string' ? value : name;
}

/** Names of all members of a value, at any depth. */
function namesIn(value: Json | undefined, names = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const each of value) namesIn(each, names);
  else if (isJsonObject(value)) {
    for (const [name, each] of Object.entries(value)) {
      names.add(name);
      namesIn(each, names);
    }
  }
  return names;
}
