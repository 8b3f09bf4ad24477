import type { Sliced } from '../../../kit/loop/turns.ts';

/** Characters that show nothing: zero-width spaces and joiners, soft hyphens, direction marks, tags, fillers. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Marks, and the few other characters that may become one with the character before them. */
const JOINING = '\\p{M}\\p{Default_Ignorable_Code_Point}\\u1160-\\u11ff\\u3131-\\u318e\\uff9e-\\uffdc';
/** Joining characters that are looked at together with the one before them; more of them stand for themselves. */
const MAX_JOINING = 64;
const IS_JOINING = new RegExp(`^[${JOINING}]`, 'u');
/** The last cluster of a text. */
const LAST_CLUSTER = new RegExp(`[^${JOINING}]?[${JOINING}]{0,${MAX_JOINING}}$`, 'su');
const ONLY_ASCII = /^[\0-\x7f]*$/;
/** Halves of characters. They stand for no character, and must not become one when something between them goes. */
const LONE_SURROGATE = /\p{Surrogate}/gu;
const REPLACEMENT = '\ufffd';
/** Digits of other scripts, besides those few that take two UTF-16 units. */
const OTHER_DIGIT = /(?!\d)(?=[\0-\uffff])\p{Nd}/gu;
const IS_DIGIT = /\p{Nd}/u;

/**
 * A text the way patterns see it: in the form NFKC and without invisible characters, so that `ｉｇｎｏｒｅ` and
 * `ig\u200bnore` read as `ignore`. Finds the place in the original for each place of it.
 */
export interface NormalText {
  readonly text: string;
  /** The same with the digits of all scripts as those of ASCII, which is how filters for personal data see it. */
  readonly withPlainDigits: string;
  /** Where the character at an index begins in the original. */
  startOf(index: number): number;
  /** Where the character before an index ends in the original. */
  endBefore(index: number): number;
}

/** Characters that are normalized between two chances to pause. */
const SLICE_CHARACTERS = 4096;

/** The normal form of a whole text, in slices. */
export function* normalForm(original: string): Sliced<NormalText> {
  const normal = new NormalStream();
  for (let at = 0; at < original.length; at += SLICE_CHARACTERS) {
    if (at > 0) yield;
    normal.push(original.slice(at, at + SLICE_CHARACTERS));
  }
  normal.finish();
  if (!normal.isSame) return normal;
  // The original is one string in memory, which is read faster than one that was put together.
  const withPlainDigits = normal.hasOtherDigits ? normal.withPlainDigits : original;
  return { text: original, withPlainDigits, startOf: same, endBefore: same };
}

function same(index: number): number {
  return index;
}

/** Whether a text is its own normal form. */
function isNormal(text: string): boolean {
  if (ONLY_ASCII.test(text)) return true;
  INVISIBLE.lastIndex = 0;
  LONE_SURROGATE.lastIndex = 0;
  return !INVISIBLE.test(text) && !LONE_SURROGATE.test(text) && text.normalize('NFKC') === text;
}

/** The digits of other scripts and those of ASCII, as they are needed. */
const plainDigitOf = new Map<string, string>();

/** A text with the digits of other scripts as those of ASCII. Each stays where it is. */
function plainDigits(text: string): string {
  return text.replace(OTHER_DIGIT, (digit) => {
    let plain = plainDigitOf.get(digit);
    if (plain === undefined) {
      // The digits of a script stand in a row, from zero to nine.
      let code = digit.charCodeAt(0);
      while (IS_DIGIT.test(String.fromCharCode(code - 1))) code--;
      plain = String(digit.charCodeAt(0) - code);
      plainDigitOf.set(digit, plain);
    }
    return plain;
  });
}

/**
 * For each UTF-16 unit of a normal form the span of the original that it was made of, as runs: in most of them each
 * unit stands for one of the original, in some all units stand for the same characters.
 */
class Spans {
  /** Where each run begins in the normal form, and in the original. */
  #positions: number[] = [];
  #starts: number[] = [];
  /** Where a run ends in the original of which all units stand for the same; EACH. */
  #ends: number[] = [];
  /** Position behind the last unit. */
  #end: number;

  constructor(base: number) {
    this.#end = base;
  }

  /** Returns the normal form of a text that begins at a place of the original. */
  append(original: string, at: number): string {
    let text = '';
    for (let index = 0; index < original.length; ) {
      const end = clusterEnd(original, index);
      const isUnit = end === index + 1;
      const cluster = isUnit ? '' : original.slice(index, end);
      const whole = isUnit ? unitForm(original, index) : formOf(cluster);
      const { alone } = whole;
      if (alone > 0 && alone < cluster.length) {
        this.#addEach(at + index, alone);
        text += cluster.slice(0, alone);
        index += alone;
        text += this.#appendForm(formOf(cluster.slice(alone)), at + index);
      } else text += this.#appendForm(whole, at + index);
      index = end;
    }
    return text;
  }

  #appendForm({ form, first, last }: ClusterForm, at: number): string {
    if (first === SAME) this.#addEach(at, form.length);
    else this.#addWhole(at + first, at + last, form.length);
    return form;
  }

  /** Text that is its own normal form. */
  appendSame(at: number, length: number): void {
    this.#addEach(at, length);
  }

  startOf(position: number): number | undefined {
    const run = this.#runOf(position);
    if (run === undefined) return undefined;
    const start = this.#starts[run] ?? 0;
    return this.#ends[run] === EACH ? start + position - (this.#positions[run] ?? 0) : start;
  }

  endBefore(position: number): number | undefined {
    const run = this.#runOf(position - 1);
    if (run === undefined) return undefined;
    const end = this.#ends[run] ?? EACH;
    return end === EACH ? (this.#starts[run] ?? 0) + position - (this.#positions[run] ?? 0) : end;
  }

  /** Forgets what is before a position. */
  drop(position: number): void {
    const run = this.#runOf(position) ?? this.#positions.length;
    const start = this.startOf(position);
    this.#positions = this.#positions.slice(run);
    this.#starts = this.#starts.slice(run);
    this.#ends = this.#ends.slice(run);
    if (start === undefined) return;
    this.#positions[0] = position;
    this.#starts[0] = start;
  }

  #runOf(position: number): number | undefined {
    let low = 0;
    let high = this.#positions.length - 1;
    if (high < 0 || position >= this.#end || position < (this.#positions[0] ?? 0)) return undefined;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#positions[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #addEach(at: number, length: number): void {
    const last = this.#positions.length - 1;
    const goesOn =
      this.#ends[last] === EACH &&
      (this.#starts[last] ?? 0) + this.#end - (this.#positions[last] ?? 0) === at;
    if (!goesOn && length > 0) this.#addRun(at, EACH);
    this.#end += length;
  }

  #addWhole(start: number, end: number, length: number): void {
    if (length === 1 && end === start + 1) this.#addEach(start, 1);
    else if (length > 0) {
      this.#addRun(start, end);
      this.#end += length;
    }
  }

  #addRun(start: number, end: number): void {
    this.#positions.push(this.#end);
    this.#starts.push(start);
    this.#ends.push(end);
  }
}

/** Instead of the end of a run: each of its units stands for one of the original. */
const EACH = -1;

/** Where the character at an index of a text ends, with the joining ones after it that are looked at together. */
function clusterEnd(text: string, index: number): number {
  let end = index;
  let joining = joinsAt(text, index) ? 0 : -1;
  do {
    joining++;
    end += widthAt(text, end);
  } while (joining < MAX_JOINING && end < text.length && joinsAt(text, end));
  return end;
}

function widthAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0xd800 || code > 0xdbff) return 1;
  const next = text.charCodeAt(index + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}

/** By code unit, as they are needed: 1 = it does not join with the one before, 2 = it does. */
const joins = new Uint8Array(0x10000);

function joinsAt(text: string, index: number): boolean {
  if (widthAt(text, index) === 2) return IS_JOINING.test(text.slice(index, index + 2));
  const code = text.charCodeAt(index);
  if (joins[code] === 0) joins[code] = IS_JOINING.test(text.charAt(index)) ? 2 : 1;
  return joins[code] === 2;
}

/** By code unit, as they are needed: the form of a cluster of one unit. */
const unitForms: (ClusterForm | undefined)[] = new Array(0x10000).fill(undefined);

function unitForm(text: string, index: number): ClusterForm {
  const code = text.charCodeAt(index);
  unitForms[code] ??= makeForm(text.charAt(index));
  return unitForms[code] as ClusterForm;
}

interface ClusterForm {
  readonly form: string;
  /** Length of the first character if nothing after it can change it, else 0. */
  readonly alone: number;
  /** Where the visible part begins and ends; SAME = the cluster is its own form. */
  readonly first: number;
  readonly last: number;
}

const SAME = -1;

/** Forms of clusters that were met, which a text has many times; cleared when there are too many. */
const forms = new Map<string, ClusterForm>();
const MAX_FORMS = 4096;
const MAX_KEPT_CLUSTER = 2 * MAX_JOINING;

function formOf(cluster: string): ClusterForm {
  let known = forms.get(cluster);
  if (known === undefined) {
    known = makeForm(cluster);
    if (forms.size >= MAX_FORMS) forms.clear();
    if (cluster.length <= MAX_KEPT_CLUSTER) forms.set(cluster, known);
  }
  return known;
}

function makeForm(cluster: string): ClusterForm {
  const form = normalCluster(cluster);
  const alone = lengthAlone(cluster);
  if (form === cluster) return { form, alone, first: SAME, last: SAME };
  const visible = cluster.replace(INVISIBLE, (hidden) => '\0'.repeat(hidden.length));
  const first = visible.length - visible.replace(/^\0+/, '').length;
  return { form, alone, first, last: visible.replace(/\0+$/, '').length };
}

/** Length of the first character of a cluster if nothing after it can change it, else 0. */
function lengthAlone(cluster: string): number {
  const code = cluster.codePointAt(0) ?? 0;
  const first = String.fromCodePoint(code);
  const isAlone = !hasComposites(code) && normalCluster(first) === first && !IS_JOINING.test(first);
  return isAlone ? first.length : 0;
}

function normalCluster(cluster: string): string {
  const visible = cluster.replace(INVISIBLE, '').replace(LONE_SURROGATE, REPLACEMENT);
  return visible.normalize('NFKC').replace(INVISIBLE, '');
}

/** The end of a text that the next characters may change. */
export interface OpenEnd {
  /** Where it begins in the original. */
  readonly start: number;
  /**
   * Characters that it may turn out to be, itself first: `e` may become `é`. Undefined = unknown.
   */
  readonly candidates: readonly number[] | undefined;
}

/** The normal form of a text that comes in pieces. */
export class NormalStream {
  /** The normal form so far, from `base` on. */
  text = '';
  base = 0;
  /** Undefined if nothing is open. */
  open: OpenEnd | undefined;
  /** The same with plain digits; undefined as long as there are no others. */
  #withPlainDigits: string | undefined;
  /** Undefined as long as every position is the same in both texts. */
  #spans: Spans | undefined;
  /** The end of the original that is not part of `text` yet, and where it begins. */
  #rest = '';
  #restAt = 0;

  /** True if the text is its own normal form so far. */
  get isSame(): boolean {
    return this.#spans === undefined;
  }

  get hasOtherDigits(): boolean {
    return this.#withPlainDigits !== undefined;
  }

  get withPlainDigits(): string {
    return this.#withPlainDigits ?? this.text;
  }

  /** Position behind the last character known. */
  get end(): number {
    return this.base + this.text.length;
  }

  push(piece: string): void {
    const original = this.#rest + piece;
    const cut = openEndOf(original);
    this.#append(original.slice(0, cut));
    this.#rest = original.slice(cut);
    this.open = this.#rest === '' ? undefined : { start: this.#restAt, candidates: candidatesOf(this.#rest) };
  }

  finish(): void {
    this.#append(this.#rest);
    this.#rest = '';
    this.open = undefined;
  }

  /** Where the character at a position begins in the original. */
  startOf(position: number): number {
    if (position >= this.end) return this.#restAt;
    return this.#spans === undefined ? position : (this.#spans.startOf(position) ?? this.#restAt);
  }

  /** Where the character before a position ends in the original. */
  endBefore(position: number): number {
    return this.#spans === undefined ? position : (this.#spans.endBefore(position) ?? position);
  }

  /** Forgets what is before a position. */
  drop(position: number): void {
    this.#withPlainDigits = this.#withPlainDigits?.slice(position - this.base);
    this.text = this.text.slice(position - this.base);
    this.base = position;
    this.#spans?.drop(position);
  }

  #append(original: string): void {
    const at = this.#restAt;
    this.#restAt += original.length;
    if (isNormal(original)) {
      this.#spans?.appendSame(at, original.length);
      this.#appendNormal(original);
      return;
    }
    if (this.#spans === undefined) {
      this.#spans = new Spans(this.base);
      this.#spans.appendSame(this.base, this.text.length);
    }
    this.#appendNormal(this.#spans.append(original, at));
  }

  #appendNormal(text: string): void {
    if (this.#withPlainDigits === undefined && !ONLY_ASCII.test(text)) {
      OTHER_DIGIT.lastIndex = 0;
      if (OTHER_DIGIT.test(text)) this.#withPlainDigits = this.text;
    }
    this.text += text;
    if (this.#withPlainDigits !== undefined) this.#withPlainDigits += plainDigits(text);
  }
}

/** Where the part of a text begins that the next characters may change. */
function openEndOf(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  // Nothing joins with digits, spaces and most punctuation.
  if (last < 0x80) return text.length - (hasComposites(last) ? 1 : 0);
  if (last >= 0xd800 && last < 0xdc00) return text.length - 1;
  const window = text.slice(-2 * MAX_JOINING - 2);
  const cluster = LAST_CLUSTER.exec(window)?.[0] ?? '';
  if (cluster.length === 0 || cluster.length > MAX_JOINING) return text.length;
  return text.length - cluster.length + lengthAlone(cluster);
}

/** By ASCII code, as they are needed. */
const asciiCandidates: (readonly number[] | undefined)[] = [];

function candidatesOf(cluster: string): readonly number[] | undefined {
  const ascii = cluster.charCodeAt(0);
  if (cluster.length === 1 && ascii < 0x80) {
    asciiCandidates[ascii] ??= [ascii, ...compositesOf(ascii)];
    return asciiCandidates[ascii];
  }
  const [first = '', ...more] = cluster;
  const code = first.codePointAt(0) ?? 0;
  const isPlain = code < 0xd800 || code > 0xdfff;
  if (more.length > 0 || !isPlain || IS_JOINING.test(first) || normalCluster(first) !== first)
    return undefined;
  return [code, ...compositesOf(code)];
}

const HANGUL = { first: 0xac00, last: 0xd7a3, finals: 28, leadFirst: 0x1100, leadLast: 0x1112, vowels: 21 };

function hasComposites(code: number): boolean {
  // The list of a leading consonant is long.
  return (code >= HANGUL.leadFirst && code <= HANGUL.leadLast) || compositesOf(code).length > 0;
}

/** Characters that a character and marks after it can become. */
function compositesOf(code: number): readonly number[] {
  if (code >= HANGUL.first && code <= HANGUL.last) {
    const isOpen = (code - HANGUL.first) % HANGUL.finals === 0;
    return isOpen ? Array.from({ length: HANGUL.finals - 1 }, (_, final) => code + final + 1) : [];
  }
  if (code >= HANGUL.leadFirst && code <= HANGUL.leadLast) {
    const size = HANGUL.vowels * HANGUL.finals;
    const first = HANGUL.first + (code - HANGUL.leadFirst) * size;
    return Array.from({ length: size }, (_, syllable) => first + syllable);
  }
  composites ??= readComposites();
  // Marks may come in any order: `ê` and a dot below are `ẹ` and a circumflex.
  const base = code < 0x80 ? code : (String.fromCodePoint(code).normalize('NFD').codePointAt(0) ?? code);
  return composites.get(base) ?? [];
}

let composites: ReadonlyMap<number, readonly number[]> | undefined;

/** The blocks that have characters which stand for another one with marks. */
const COMPOSITE_BLOCKS = [
  [0xc0, 0x30ff],
  [0x11000, 0x11fff],
  [0x16100, 0x16fff],
] as const;

function readComposites(): ReadonlyMap<number, readonly number[]> {
  const read = new Map<number, number[]>();
  for (const [first, last] of COMPOSITE_BLOCKS) {
    for (let code = first; code <= last; code++) {
      const character = String.fromCodePoint(code);
      const parts = character.normalize('NFD');
      if (parts === character || character.normalize('NFKC') !== character) continue;
      const base = parts.codePointAt(0) ?? 0;
      const known = read.get(base);
      if (known === undefined) read.set(base, [code]);
      else known.push(code);
    }
  }
  return read;
}
