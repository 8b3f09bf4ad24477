import { INJECTION_PATTERNS, type InjectionPattern } from './patterns.ts';

/** A place where a text tries to write over a model's instructions. */
export interface InjectionMatch {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Characters after the range within which a match of a pattern without a first word must end. */
const LOOKAHEAD_CHARACTERS = 512;
/** Letters of a word that select the patterns to try; the first of them rule out most words. */
const KEY_LETTERS = 6;
const FILTER_LETTERS = 3;
const FILTER_BASE = 27;

/** A pattern that begins with one of a few words, tried where such a word begins. */
interface WordPattern {
  readonly name: string;
  readonly sticky: RegExp;
}

interface OtherPattern {
  readonly name: string;
  readonly global: RegExp;
  /** Every match contains one of these; undefined = not known. */
  readonly needs: readonly string[] | undefined;
}

/** Patterns by the first letters of a word, or by the word if it has fewer. */
const WORD_PATTERNS = new Map<string, WordPattern[]>();
/** Patterns that begin with a sign or at the start of a line, and the case-sensitive one. */
const OTHER_PATTERNS: OtherPattern[] = [];
/** Letters by ASCII code: 1 to 26 for a letter in either case, else 0. */
const LETTERS = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const letter = (code | 0x20) - 0x60;
  return letter >= 1 && letter <= 26 && code >= 0x41 ? letter : 0;
});
/** For each number of first letters: 1 = a pattern may begin with them. */
const MAY_BEGIN = new Uint8Array(FILTER_BASE ** FILTER_LETTERS);
for (const pattern of INJECTION_PATTERNS) addPattern(pattern);

let isWarm = false;

/** Lets the engine compile the expressions, which takes some milliseconds each, and yields after every one. */
export function* warmUp(): Generator<undefined, void> {
  if (isWarm) return;
  isWarm = true;
  const stickies = [...WORD_PATTERNS.values()].flatMap((patterns) => patterns.map(({ sticky }) => sticky));
  for (const expression of new Set([...stickies, ...OTHER_PATTERNS.map(({ global }) => global)])) {
    // The first use compiles to bytecode, the second one to machine code.
    for (let use = 0; use < 2; use++) {
      expression.lastIndex = 0;
      expression.test(WARM_UP_TEXT);
      yield;
    }
  }
}

const WARM_UP_TEXT = 'A text of some length, in which none of the patterns is found.';

/** All matches of the named patterns that begin in a range of a text, in no order. */
export function findPatterns(text: string, from: number, to: number): InjectionMatch[] {
  const found: InjectionMatch[] = [];
  findWordPatterns(text, from, to, found);
  const start = Math.max(0, from - 1);
  const window = text.slice(start, to + LOOKAHEAD_CHARACTERS);
  for (const { name, global, needs } of OTHER_PATTERNS) {
    if (needs !== undefined && !needs.some((piece) => window.includes(piece))) continue;
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
      if (MAY_BEGIN[filterNumber(text, at)] === 1) tryPatterns(text, at, found);
    }
  }
}

function tryPatterns(text: string, at: number, found: InjectionMatch[]): void {
  let end = at;
  while (end < at + KEY_LETTERS && letterOf(text.charCodeAt(end)) > 0) end++;
  const patterns = WORD_PATTERNS.get(text.slice(at, end).toLowerCase());
  if (patterns === undefined) return;
  for (const { name, sticky } of patterns) {
    sticky.lastIndex = at;
    if (sticky.test(text)) found.push({ start: at, end: sticky.lastIndex, name });
  }
}

/** 1 to 26 for a letter in either case, else 0. */
function letterOf(code: number): number {
  return code < 0x80 ? (LETTERS[code] ?? 0) : 0;
}

/** A number for the first letters of the word at a position; shorter words are filled up. */
function filterNumber(text: string, at: number): number {
  let number = 0;
  let isOver = false;
  for (let place = 0; place < FILTER_LETTERS; place++) {
    const letter = isOver ? 0 : letterOf(text.charCodeAt(at + place));
    if (letter === 0) isOver = true;
    number = number * FILTER_BASE + letter;
  }
  return number;
}

function addPattern({ name, source, ignoresCase, needs }: InjectionPattern): void {
  const heads = ignoresCase ? headsOf(source) : undefined;
  // An expression with one first word is found fastest by itself.
  if (heads === undefined || heads.size === 1) {
    OTHER_PATTERNS.push({ name, global: new RegExp(source, ignoresCase ? 'gi' : 'g'), needs });
    return;
  }
  const sticky = new RegExp(source, 'iy');
  for (const head of heads) {
    const key = head.slice(0, KEY_LETTERS);
    MAY_BEGIN[filterNumber(key, 0)] = 1;
    const known = WORD_PATTERNS.get(key);
    if (known === undefined) WORD_PATTERNS.set(key, [{ name, sticky }]);
    else known.push({ name, sticky });
  }
}

/** The first words of all alternatives of a pattern; undefined if one begins otherwise. */
function headsOf(source: string): ReadonlySet<string> | undefined {
  const heads = new Set<string>();
  for (const alternative of alternativesOf(source)) {
    if (!alternative.startsWith('\\b')) return undefined;
    for (const words of firstWords(alternative.slice(2))) {
      if (words === '') return undefined;
      heads.add(words);
    }
  }
  return heads;
}

/** The words that a source may begin with, up to the first gap; '' if it begins with anything else. */
function firstWords(source: string): string[] {
  const [, letters = '', rest = ''] = /^([a-z]*)(.*)$/s.exec(source) ?? [];
  if (rest.startsWith('?')) {
    const without = letters.slice(0, -1);
    return [letters, without].flatMap((head) => firstWords(rest.slice(1)).map((tail) => head + tail));
  }
  // Two words that may be written as one.
  const joined = /^\[[^\]]*\]\?(.*)$/s.exec(rest)?.[1];
  if (joined !== undefined) return [letters, ...firstWords(joined).map((tail) => letters + tail)];
  if (!rest.startsWith('(?:')) return [letters];
  const close = closingOf(rest);
  const after = rest.slice(close + 1);
  const isOptional = after.startsWith('?');
  const options = alternativesOf(rest.slice(3, close)).concat(isOptional ? [''] : []);
  return options.flatMap((option) =>
    firstWords(option + after.slice(isOptional ? 1 : 0)).map((tail) => letters + tail),
  );
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
