import { UnitText, unitsOf } from './unit-text.ts';

/** Characters that show nothing: zero-width spaces and joiners, soft hyphens, direction marks, tags, fillers. */
const IS_INVISIBLE = /^\p{Default_Ignorable_Code_Point}/u;
/** Halves of characters stand for no character, and must not become one when something between them goes. */
const REPLACEMENT = '\ufffd';
/** Digits of other scripts, besides those few that take two UTF-16 units. */
const OTHER_DIGIT = /^(?!\d)(?=[\0-\uffff])\p{Nd}/u;
const IS_DIGIT = /\p{Nd}/u;

/** What a code point is by itself. */
const UNKNOWN = 0;
/** The code point is its own form, whatever follows. */
export const PLAIN = 1;
/** The code point is its own form, whatever follows, and a digit of another script. */
export const DIGIT = 2;
/** The code point is its own form, which a joining character after it may change. */
export const OPEN = 3;
/** The form of the code point is another one, or the unit is half a character. */
export const CHANGED = 4;
/** May become one with the character before it, or change places with it. */
export const JOINING = 5;
/** Vanishes. It counts as joining too. */
export const HIDDEN = 6;

/** Kinds by code point, found as they are needed. */
const kinds = new Uint8Array(0x110000);

export function kindOf(code: number): number {
  const known = kinds[code] as number;
  return known === UNKNOWN ? rememberKind(code) : known;
}

function rememberKind(code: number): number {
  const kind = findKind(code);
  kinds[code] = kind;
  return kind;
}

function findKind(code: number): number {
  const character = String.fromCodePoint(code);
  if (IS_INVISIBLE.test(character)) return HIDDEN;
  if (isHalf(code)) return CHANGED;
  if (joins(character)) return JOINING;
  if (character.normalize('NFKC') !== character) return CHANGED;
  if (OTHER_DIGIT.test(character)) return DIGIT;
  return hasComposites(code) ? OPEN : PLAIN;
}

function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}

function joins(character: string): boolean {
  const first = character.normalize('NFKD').codePointAt(0) ?? 0;
  return composition().seconds.has(first) || isReordered(String.fromCodePoint(first));
}

/** Whether a character changes places with marks beside it: with those of class 230 before, of class 1 after it. */
function isReordered(mark: string): boolean {
  const [after, before] = [`\u0301${mark}`, `${mark}\u0334`];
  return after.normalize('NFD') !== after || before.normalize('NFD') !== before;
}

/**
 * Plain units by UTF-16 unit: digits of other scripts as those of ASCII, all others as they are; 0 = not
 * known yet.
 */
const plainUnits = new Uint16Array(0x10000);

/** A text with the digits of other scripts as those of ASCII. Each stays where it is. */
export function plainDigits(text: string): string {
  const units = new UnitText(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (plainUnits[code] === 0) plainUnits[code] = plainUnit(code);
    units.addCode(plainUnits[code] as number);
  }
  return units.toString();
}

function plainUnit(code: number): number {
  if (kindOf(code) !== DIGIT) return code;
  // The digits of a script stand in a row, from zero to nine.
  let zero = code;
  while (IS_DIGIT.test(String.fromCharCode(zero - 1))) zero--;
  return 0x30 + code - zero;
}

/** The form of a code point that stands for others. */
interface CharacterForm {
  readonly whole: Uint16Array;
  /** One character if no built-in filter knows any of the form's characters, else the form itself. */
  readonly short: Uint16Array;
}

/** No digit, none of ASCII, and none of the letters and dashes that filters for personal data read. */
const UNREAD = '[^\\0-\\u024f\\u2010-\\u2015\\u2212\\p{Nd}]';
const IS_UNREAD = new RegExp(`^${UNREAD}(?:(?: |${UNREAD})*${UNREAD})?$`, 'u');

/** Forms by code point, made as they are needed: a few thousand stand for others. */
const forms = new Map<number, CharacterForm>();
/** Forms of code points of one UTF-16 unit, which are read faster. */
const unitForms: (CharacterForm | undefined)[] = new Array(0x10000).fill(undefined);

/** The form of a code point that is `CHANGED`. */
export function formOf(code: number): CharacterForm {
  const known = code < 0x10000 ? unitForms[code] : forms.get(code);
  return known ?? rememberForm(code);
}

function rememberForm(code: number): CharacterForm {
  const whole = isHalf(code) ? REPLACEMENT : String.fromCodePoint(code).normalize('NFKC');
  // Marks after it join with the last one.
  const last = String.fromCodePoint([...whole].at(-1)?.codePointAt(0) ?? 0);
  const form = { whole: unitsOf(whole), short: unitsOf(IS_UNREAD.test(whole) ? last : whole) };
  if (code < 0x10000) unitForms[code] = form;
  else forms.set(code, form);
  return form;
}

const HANGUL = { first: 0xac00, last: 0xd7a3, finals: 28, leadFirst: 0x1100, leadLast: 0x1112, vowels: 21 };
/** Vowels and last consonants. */
const HANGUL_SECONDS = { first: 0x1160, last: 0x11ff };
const HANGUL_VOWEL = 0x1161;
/** One before the first last consonant. */
const HANGUL_FINAL = 0x11a7;

function hasComposites(code: number): boolean {
  if (code >= HANGUL.leadFirst && code <= HANGUL.leadLast) return true;
  if (code >= HANGUL.first && code <= HANGUL.last) return (code - HANGUL.first) % HANGUL.finals === 0;
  return compositesOf(code).length > 0;
}

/** Characters that a character and marks after it can become. */
export function compositesOf(code: number): readonly number[] {
  if (code >= HANGUL.first && code <= HANGUL.last) {
    const isOpen = (code - HANGUL.first) % HANGUL.finals === 0;
    return isOpen ? Array.from({ length: HANGUL.finals - 1 }, (_, final) => code + final + 1) : [];
  }
  if (code >= HANGUL.leadFirst && code <= HANGUL.leadLast) {
    const size = HANGUL.vowels * HANGUL.finals;
    const first = HANGUL.first + (code - HANGUL.leadFirst) * size;
    return Array.from({ length: size }, (_, syllable) => first + syllable);
  }
  // Marks may come in any order: `ê` and a dot below are `ẹ` and a circumflex.
  const base = code < 0x80 ? code : (String.fromCodePoint(code).normalize('NFD').codePointAt(0) ?? code);
  return composition().composites.get(base) ?? [];
}

/** What two characters become; undefined = they do not become one. */
export function compositeOf(code: number, second: number): number | undefined {
  if (code >= HANGUL.leadFirst && code <= HANGUL.leadLast) {
    const vowel = second - HANGUL_VOWEL;
    if (vowel < 0 || vowel >= HANGUL.vowels) return undefined;
    return HANGUL.first + ((code - HANGUL.leadFirst) * HANGUL.vowels + vowel) * HANGUL.finals;
  }
  if (code >= HANGUL.first && code <= HANGUL.last) {
    const final = second - HANGUL_FINAL;
    const isOpen = (code - HANGUL.first) % HANGUL.finals === 0;
    return isOpen && final > 0 && final < HANGUL.finals ? code + final : undefined;
  }
  return code < MAX_PAIRED && second < MAX_PAIRED
    ? composition().pairs.get(pairKey(code, second))
    : undefined;
}

/** Most of the characters that become one with another are below. */
const MAX_PAIRED = 0x4000;

function pairKey(code: number, second: number): number {
  return code * MAX_PAIRED + second;
}

interface Composition {
  /** What they can become, by the first of them. */
  readonly composites: ReadonlyMap<number, readonly number[]>;
  /** Code points that may become one with the character before them. */
  readonly seconds: ReadonlySet<number>;
  /** What two of those below `MAX_PAIRED` become. */
  readonly pairs: ReadonlyMap<number, number>;
}

let knownComposition: Composition | undefined;

function composition(): Composition {
  knownComposition ??= readComposition();
  return knownComposition;
}

/** The blocks that have characters which stand for another one with marks. */
const COMPOSITE_BLOCKS = [
  [0xc0, 0x30ff],
  [0x11000, 0x11fff],
  [0x16100, 0x16fff],
] as const;

function readComposition(): Composition {
  const composites = new Map<number, number[]>();
  const seconds = new Set<number>();
  const pairs = new Map<number, number>();
  for (let code = HANGUL_SECONDS.first; code <= HANGUL_SECONDS.last; code++) seconds.add(code);
  for (const [start, end] of COMPOSITE_BLOCKS) {
    for (let code = start; code <= end; code++) {
      const character = String.fromCodePoint(code);
      const parts = character.normalize('NFD');
      if (parts === character || character.normalize('NFKC') !== character) continue;
      const [base = 0, ...others] = Array.from(parts, (part) => part.codePointAt(0) ?? 0);
      for (const other of others) seconds.add(other);
      const second = others.at(-1) ?? 0;
      const rest = parts.slice(0, -String.fromCodePoint(second).length).normalize('NFC');
      const first = rest.codePointAt(0) ?? 0;
      const isPair = rest === String.fromCodePoint(first) && Math.max(first, second) < MAX_PAIRED;
      if (isPair) pairs.set(pairKey(first, second), code);
      const known = composites.get(base);
      if (known === undefined) composites.set(base, [code]);
      else known.push(code);
    }
  }
  return { composites, seconds, pairs };
}
