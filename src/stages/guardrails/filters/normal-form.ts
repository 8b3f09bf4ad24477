import type { Sliced } from '../../../kit/loop/turns.ts';
import { CHANGED, compositesOf, DIGIT, formOf, kindOf, OPEN, plainDigits } from './character-forms.ts';
import { FormSpans } from './form-spans.ts';
import { FORM_END, type JoinedCluster, joinedClusters, lastCluster, MAX_JOINING } from './joined-clusters.ts';
import { UnitText } from './unit-text.ts';

const ONLY_ASCII = /^[\0-\x7f]*$/;

/**
 * A text the way patterns see it: in the form NFKC and without invisible characters, so that `ｉｇｎｏｒｅ` and
 * `ig\u200bnore` read as `ignore`. Finds the place in the original for each place of it.
 */
export interface NormalText {
  readonly text: string;
  /**
   * The form with the digits of all scripts as those of ASCII, which is how filters for personal data see it.
   */
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
  const hasOther = normal.hasOtherDigits;
  if (normal.isSame) {
    const withPlainDigits = hasOther ? inOnePiece(normal.withPlainDigits) : original;
    return { text: original, withPlainDigits, startOf: same, endBefore: same };
  }
  const text = inOnePiece(normal.text);
  return {
    text,
    withPlainDigits: hasOther ? inOnePiece(normal.withPlainDigits) : text,
    startOf: (index) => normal.startOf(index),
    endBefore: (index) => normal.endBefore(index),
  };
}

/** A text in one piece of memory, which is read much faster than one that was put together. */
function inOnePiece(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

function same(index: number): number {
  return index;
}

/**
 * The kind of the first character that makes a text differ from its normal form; without one `DIGIT` if it has digits
 * of other scripts, else 0.
 */
function decidingKind(text: string): number {
  let highest = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    const kind = kindOf(code);
    if (kind >= CHANGED) return kind;
    if (kind === DIGIT) highest = DIGIT;
    if (code > 0xffff) at++;
  }
  return highest;
}

/** Puts together the normal form of a part of a text, and notes what its units stand for. */
class FormWriter {
  hasOtherDigits = false;
  readonly #units: UnitText;
  readonly #original: string;
  /** Where it begins in the whole text. */
  readonly #at: number;
  readonly #spans: FormSpans;
  readonly #isShort: boolean;

  constructor(original: string, at: number, spans: FormSpans, isShort: boolean) {
    this.#units = new UnitText(original.length);
    this.#original = original;
    this.#at = at;
    this.#spans = spans;
    this.#isShort = isShort;
  }

  write(): string {
    const { clusters, forms } = joinedClusters(this.#original, this.#isShort);
    let from = 0;
    let formAt = 0;
    for (const cluster of clusters) {
      this.#addSingle(from, cluster.start);
      formAt = this.#addForm(cluster, forms, formAt);
      from = cluster.end;
    }
    this.#addSingle(from, this.#original.length);
    return this.#units.toString();
  }

  /** Returns where the next form begins. */
  #addForm({ start, end, first, last }: JoinedCluster, forms: string, from: number): number {
    const original = this.#original;
    let isSame = true;
    let to = from;
    for (let code = forms.charCodeAt(to); code !== FORM_END; code = forms.charCodeAt(++to)) {
      const at = start + to - from;
      isSame &&= at < end && original.charCodeAt(at) === code;
      this.#units.addCode(code);
    }
    const length = to - from;
    if (isSame && length === end - start) this.#spans.addEach(this.#at + start, length);
    else this.#spans.addWhole(this.#at + first, this.#at + last, length);
    return to + 1;
  }

  /** Adds characters that stand by themselves. */
  #addSingle(from: number, to: number): void {
    const original = this.#original;
    const units = this.#units;
    /** Where the characters begin whose units stand for one of the original each, and that are not noted yet. */
    let each = from;
    for (let index = from; index < to; ) {
      const code = original.codePointAt(index) as number;
      const kind = kindOf(code);
      const width = code > 0xffff ? 2 : 1;
      if (kind === DIGIT) this.hasOtherDigits = true;
      if (kind !== CHANGED) units.addCode(code);
      else {
        const { whole, short } = formOf(code);
        const form = this.#isShort ? short : whole;
        units.addUnits(form);
        if (width > 1 || form.length > 1) {
          this.#spans.addEach(this.#at + each, index - each);
          this.#spans.addWhole(this.#at + index, this.#at + index + width, form.length);
          each = index + width;
        }
      }
      index += width;
    }
    this.#spans.addEach(this.#at + each, to - each);
  }
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

export class NormalStream {
  /** The normal form so far, from `base` on. */
  text = '';
  base = 0;
  /** Undefined if nothing is open. */
  open: OpenEnd | undefined;
  /** `text` with plain digits; undefined as long as there are no others. */
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

  startOf(position: number): number {
    if (position >= this.end) return this.#restAt;
    return this.#spans === undefined ? position : (this.#spans.startOf(position) ?? this.#restAt);
  }

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
    const kind = ONLY_ASCII.test(original) ? 0 : decidingKind(original);
    if (kind < CHANGED) {
      this.#spans?.addEach(at, original.length);
      this.#appendNormal(original, kind === DIGIT);
      return;
    }
    if (this.#spans === undefined) {
      this.#spans = new FormSpans(this.base);
      this.#spans.addEach(this.base, this.text.length);
    }
    const writer = new FormWriter(original, at, this.#spans, this.#isShort);
    const form = writer.write();
    this.#appendNormal(form, writer.hasOtherDigits);
  }

  #appendNormal(text: string, hasOtherDigits: boolean): void {
    if (hasOtherDigits) this.#withPlainDigits ??= this.text;
    this.text += text;
    if (this.#withPlainDigits !== undefined) {
      this.#withPlainDigits += hasOtherDigits ? plainDigits(text) : text;
    }
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

/** Candidates by ASCII code, found as they are needed. */
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
