import { INJECTION_PATTERNS, type InjectionPattern } from './patterns.ts';

/** A place where a text tries to write over a model's instructions. */
export interface InjectionMatch {
  readonly start: number;
  readonly end: number;
  /** The pattern or evasion that was found. */
  readonly name: string;
}

/** Longest text that a pattern without a first word is looked for in at once beyond the asked range. */
const REACH = 512;
/** Letters of a word that select the patterns to try. */
const KEY_LETTERS = 3;
const KEY_BASE = 27;

/** A pattern that begins with one of a few words, tried where such a word begins. */
interface WordPattern {
  readonly name: string;
  readonly sticky: RegExp;
}

const WORD_PATTERNS = new Map<number, WordPattern[]>();
/** Patterns that begin with a sign or at the start of a line, and the one that minds case. */
const OTHER_PATTERNS: { readonly name: string; readonly global: RegExp }[] = [];
for (const pattern of INJECTION_PATTERNS) addPattern(pattern);

/** One bit for each key: whether any pattern begins so. */
const HAS_KEY = Uint8Array.from({ length: KEY_BASE ** KEY_LETTERS }, (_, key) =>
  WORD_PATTERNS.has(key) ? 1 : 0,
);

/** All matches of the named patterns that begin in a range of a text, in no order. */
export function findPatterns(text: string, from: number, to: number): InjectionMatch[] {
  const found: InjectionMatch[] = [];
  findWordPatterns(text, from, to, found);
  const start = Math.max(0, from - 1);
  const window = text.slice(start, to + REACH);
  for (const { name, global } of OTHER_PATTERNS) {
    global.lastIndex = 0;
    for (let match = global.exec(window); match !== null; match = global.exec(window)) {
      const at = start + match.index;
      if (at >= to) break;
      if (at >= from) found.push({ start: at, end: at + match[0].length, name });
    }
  }
  return found;
}

function findWordPatterns(text: string, from: number, to: number, found: InjectionMatch[]): void {
  let isInWord = from > 0 && letterOf(text.charCodeAt(from - 1)) > 0;
  for (let at = from; at < to; at++) {
    const letter = letterOf(text.charCodeAt(at));
    if (letter === 0) isInWord = false;
    else if (!isInWord) {
      isInWord = true;
      const key = keyAt(text, at);
      if (HAS_KEY[key] === 1) tryPatterns(text, at, key, found);
    }
  }
}

function tryPatterns(text: string, at: number, key: number, found: InjectionMatch[]): void {
  for (const { name, sticky } of WORD_PATTERNS.get(key) ?? []) {
    sticky.lastIndex = at;
    if (sticky.test(text)) found.push({ start: at, end: sticky.lastIndex, name });
  }
}

/** 1 to 26 for a letter in either case, else 0. */
function letterOf(code: number): number {
  const letter = (code | 0x20) - 0x60;
  return letter >= 1 && letter <= 26 && code >= 0x41 ? letter : 0;
}

/** A number for the first letters of the word at a position; words that are shorter are filled up. */
function keyAt(text: string, at: number): number {
  let key = 0;
  let isOver = false;
  for (let place = 0; place < KEY_LETTERS; place++) {
    const letter = isOver ? 0 : letterOf(text.charCodeAt(at + place));
    if (letter === 0) isOver = true;
    key = key * KEY_BASE + letter;
  }
  return key;
}

function addPattern({ name, source, ignoresCase }: InjectionPattern): void {
  const heads = ignoresCase ? headsOf(source) : undefined;
  if (heads === undefined) {
    OTHER_PATTERNS.push({ name, global: new RegExp(source, ignoresCase ? 'gi' : 'g') });
    return;
  }
  const sticky = new RegExp(source, 'iy');
  for (const key of keysOf(heads)) {
    const known = WORD_PATTERNS.get(key);
    if (known === undefined) WORD_PATTERNS.set(key, [{ name, sticky }]);
    else known.push({ name, sticky });
  }
}

/** Keys of all words that begin with one of the heads. A head shorter than a key may be a word or begin one. */
function keysOf(heads: readonly string[]): Set<number> {
  const keys = new Set<number>();
  for (const head of heads) {
    const rest = KEY_LETTERS - head.length;
    if (rest <= 0) keys.add(keyAt(head, 0));
    else for (let more = 0; more < KEY_BASE ** rest; more++) keys.add((keyAt(head, 0) as number) + more);
  }
  return keys;
}

/** The letters that each alternative of a pattern begins with; undefined if one begins otherwise. */
function headsOf(source: string): string[] | undefined {
  const heads: string[] = [];
  for (const alternative of alternativesOf(source)) {
    if (!alternative.startsWith('\\b')) return undefined;
    const rest = alternative.slice(2);
    const group = rest.startsWith('(?:') ? alternativesOf(rest.slice(3, closingOf(rest))) : [rest];
    for (const words of group) {
      const letters = /^[a-z]+/.exec(words)?.[0] ?? '';
      // A letter before a quantifier may be missing.
      const head = /^[?*{]/.test(words.slice(letters.length)) ? letters.slice(0, -1) : letters;
      if (head === '') return undefined;
      heads.push(head);
    }
  }
  return heads;
}

/** Splits a source at the bars that stand in no group and no class. */
function alternativesOf(source: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|[()|]/gs)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === '|' && depth === 0) {
      parts.push(source.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, source.slice(start)];
}

/** Index of the parenthesis that closes the first group. */
function closingOf(source: string): number {
  let depth = 0;
  for (const { 0: token, index } of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|[()]/gs)) {
    if (token === '(') depth++;
    else if (token === ')' && --depth === 0) return index;
  }
  return source.length;
}
