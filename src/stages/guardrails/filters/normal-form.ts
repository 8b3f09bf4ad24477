import type { Sliced } from '../../../kit/loop/turns.ts';
import {
  CHANGED,
  compositesOf,
  formOf,
  hasOtherDigit,
  kindOf,
  OPEN,
  plainDigits,
} from './character-forms.ts';
import { FormSpans } from './form-spans.ts';
import { FORM_END_LENGTH, formEnd, joinedClusters, lastCluster, MAX_JOINING } from './joined-clusters.ts';
import { UnitText } from './unit-text.ts';

const ONLY_ASCII = /^[\0-\x7f]*$/;

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

/**
 * The normal form of a whole text, in slices. `isShort`: characters that no built-in filter reads stand for themselves
 * once, even if their form has eighteen of them; custom patterns may ask for any of these.
 */
export function* normalForm(original: string, isShort = false): Sliced<NormalText> {
  const normal = new NormalStream(isShort);
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

/** Whether a text is certainly its own normal form. */
function isNormal(text: string): boolean {
  if (ONLY_ASCII.test(text)) return true;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    if (kindOf(code) >= CHANGED) return false;
    if (code > 0xffff) at++;
  }
  return true;
}

/** The normal form of a text that begins at a place of the original; notes what its units stand for. */
function formed(original: string, at: number, spans: FormSpans, isShort: boolean): string {
  const units = new UnitText(original.length);
  const { clusters, forms } = joinedClusters(original, isShort);
  let from = 0;
  let formAt = 0;
  for (const { start, end, first, last } of clusters) {
    addSingle(units, original, from, start, at, spans, isShort);
    const formLast = formEnd(forms, formAt);
    const length = formLast - formAt;
    if (length === end - start && isSameAt(original, start, forms, formAt, length)) {
      spans.addEach(at + start, length);
    } else spans.addWhole(at + first, at + last, length);
    units.addText(forms, formAt, formLast);
    formAt = formLast + FORM_END_LENGTH;
    from = end;
  }
  addSingle(units, original, from, original.length, at, spans, isShort);
  return units.toString();
}

/** Adds characters that stand by themselves. */
function addSingle(
  units: UnitText,
  original: string,
  from: number,
  to: number,
  at: number,
  spans: FormSpans,
  isShort: boolean,
): void {
  /** Where the characters begin whose units stand for one of the original each, and that are not noted yet. */
  let each = from;
  for (let index = from; index < to; ) {
    const code = original.codePointAt(index) as number;
    const width = code > 0xffff ? 2 : 1;
    if (kindOf(code) !== CHANGED) units.addCode(code);
    else {
      const { whole, short } = formOf(code);
      const form = isShort ? short : whole;
      units.addText(form);
      if (width > 1 || form.length > 1) {
        spans.addEach(at + each, index - each);
        spans.addWhole(at + index, at + index + width, form.length);
        each = index + width;
      }
    }
    index += width;
  }
  spans.addEach(at + each, to - each);
}

/** Whether two texts have the same units from their indices on. */
function isSameAt(one: string, index: number, other: string, otherIndex: number, length: number): boolean {
  for (let place = 0; place < length; place++) {
    if (one.charCodeAt(index + place) !== other.charCodeAt(otherIndex + place)) return false;
  }
  return true;
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
  #spans: FormSpans | undefined;
  /** The end of the original that is not part of `text` yet, and where it begins. */
  #rest = '';
  #restAt = 0;
  readonly #isShort: boolean;

  /** `isShort`: as in `normalForm`. */
  constructor(isShort = false) {
    this.#isShort = isShort;
  }

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
      this.#spans?.addEach(at, original.length);
      this.#appendNormal(original);
      return;
    }
    if (this.#spans === undefined) {
      this.#spans = new FormSpans(this.base);
      this.#spans.addEach(this.base, this.text.length);
    }
    this.#appendNormal(formed(original, at, this.#spans, this.#isShort));
  }

  #appendNormal(text: string): void {
    const hasOthers = !ONLY_ASCII.test(text) && hasOtherDigit(text);
    if (hasOthers) this.#withPlainDigits ??= this.text;
    this.text += text;
    if (this.#withPlainDigits !== undefined) this.#withPlainDigits += hasOthers ? plainDigits(text) : text;
  }
}

/** Where the part of a text begins that the next characters may change. */
function openEndOf(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  // Nothing joins with digits, spaces and most punctuation.
  if (last < 0x80) return text.length - (kindOf(last) === OPEN ? 1 : 0);
  if (last >= 0xd800 && last < 0xdc00) return text.length - 1;
  const start = lastCluster(text);
  if (start === text.length || text.length - start > MAX_JOINING) return text.length;
  const code = text.codePointAt(start) as number;
  return kindOf(code) < OPEN ? start + (code > 0xffff ? 2 : 1) : start;
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
  if (more.length > 0 || kindOf(code) >= CHANGED) return undefined;
  return [code, ...compositesOf(code)];
}
