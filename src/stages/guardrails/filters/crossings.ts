import type { Sliced } from '../../../kit/loop/turns.ts';
import type { Finding, Replacement } from './finding.ts';

/**
 * Visible characters to either side of a cut that are scanned for what spans it: twice the longest match of all filters
 * but custom patterns with longer ones.
 */
const WINDOW_CHARACTERS = 1024;
/** A custom pattern with longer matches is searched for in all of the joined texts. */
export const MAX_WINDOW_MATCH = WINDOW_CHARACTERS / 2;

export interface CutScanner {
  scan(text: string): Sliced<Finding[]>;
  /** Searches for custom patterns if one of them has matches that no window holds; else finds nothing. */
  scanForLong(text: string): Sliced<Finding[]>;
}

/** Texts that a model reads one right after the other. */
export interface AdjoiningTexts {
  readonly texts: readonly string[];
  /** For each text the number of the item that it is part of, in order. */
  readonly items: readonly number[];
  /** True if more of the last text is to come. */
  readonly isOpen: boolean;
}

/** A match that spans the cut between two texts, or several. */
export interface Crossing {
  /** Its positions are those in all texts, joined without blanks. */
  readonly finding: Finding;
  /** What it consists of, in order, and what stands in place of each piece; none of a scan that is not finished. */
  readonly pieces: readonly (Piece & Replacement)[];
  /** True if it makes a match of one text longer, which that text's own scan reports. */
  readonly isLonger: boolean;
}

/** A piece of a match in the text at an index. */
interface Piece {
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Finds what spans the cuts between texts. They are read joined, then with a blank at each cut that has none, and with
 * a blank between items alone. What a text holds alone is found by its own scan: if it goes on in the next text of the
 * same item, that belongs to it too, but what follows in the next item does not.
 */
export function* crossingsOf(adjoining: AdjoiningTexts, scanner: CutScanner): Sliced<Crossing[]> {
  const { texts, items } = adjoining;
  const found: Crossing[] = [];
  const own = new OwnFindings(texts, scanner);
  for (let from = 0; from < texts.length; ) {
    let to = from + 1;
    while (to < texts.length && items[to] === items[from]) to++;
    const range = to - from > 1 ? new Range(adjoining, from, to, () => true) : undefined;
    from = to;
    if (range === undefined) continue;
    for (const finding of yield* range.matches(scanner)) {
      yield;
      const pieces = range.piecesOf(finding);
      found.push({ finding, pieces, isLonger: yield* own.overlap(finding, pieces) });
    }
  }
  if (items[0] === items[items.length - 1]) return found;
  const all = new Range(adjoining, 0, texts.length, (index) => items[index] !== items[index - 1]);
  const across = yield* all.matches(scanner);
  if (across.length === 0) return found;
  const ofItems = new Map<string, Piece[]>();
  for (const { finding, pieces } of found) {
    for (const piece of pieces) {
      const key = pieceKey(finding, piece);
      const others = ofItems.get(key);
      if (others === undefined) ofItems.set(key, [piece]);
      else others.push(piece);
    }
  }
  for (const finding of across) {
    const pieces = all.piecesOf(finding);
    const isOfItem = pieces.some((piece) =>
      ofItems.get(pieceKey(finding, piece))?.some((other) => overlap(piece, other)),
    );
    yield;
    if (isOfItem || (yield* own.overlap(finding, pieces))) continue;
    found.push({ finding, pieces, isLonger: false });
  }
  return found;
}

/** The texts of a range, and the cuts between them that are of interest. */
class Range {
  readonly #of: AdjoiningTexts;
  readonly #from: number;
  readonly #isCut: (index: number) => boolean;
  readonly #direct: Joint;
  readonly #joints: readonly Joint[];

  /** `isCut`: whether the cut before a text is of interest. */
  constructor(of: AdjoiningTexts, from: number, to: number, isCut: (index: number) => boolean) {
    const texts = of.texts.slice(from, to);
    this.#of = of;
    this.#from = from;
    this.#isCut = isCut;
    this.#direct = joined(texts, NOWHERE);
    // Upstreams that join the parts of an item without a blank may put one between two items.
    this.#joints = distinct([
      this.#direct,
      joined(texts, EVERYWHERE),
      joined(texts, (index) => isCut(index + from)),
    ]);
  }

  /** What spans a cut, with its positions in the texts joined without blanks. */
  *matches(scanner: CutScanner): Sliced<Finding[]> {
    const { starts } = this.#direct;
    const cuts = starts.flatMap((_, index) => (index > 0 && this.#isCut(index + this.#from) ? [index] : []));
    if (cuts.length === 0) return [];
    const found: Finding[] = [];
    const add = (findings: readonly Finding[], base: number, joint: Joint) => {
      for (const finding of findings) {
        if (finding.kind === 'unfinished-scan') {
          found.push({ ...finding, start: 0, end: 0 });
          continue;
        }
        const span = this.#inDirect({ start: finding.start + base, end: finding.end + base }, joint);
        if (span !== undefined) found.push({ ...finding, ...span });
      }
    };
    for (const joint of this.#joints) {
      const places = cuts.map((index) => joint.starts[index] as number);
      for (const { start, end } of windowsAround(places, joint.text)) {
        add(yield* scanner.scan(joint.text.slice(start, end)), start, joint);
        yield;
      }
      add(yield* scanner.scanForLong(joint.text), 0, joint);
    }
    return merged(found, this.#direct.text);
  }

  /**
   * The label stands in the first text, and nothing in the others. A text that would be left empty has the label too,
   * because some upstreams refuse empty texts.
   */
  piecesOf({ start, end, redaction }: Finding): (Piece & Replacement)[] {
    const { texts, isOpen } = this.#of;
    return piecesIn(this.#direct, start, end).map((piece, place) => {
      const index = piece.index + this.#from;
      const text = texts[index] as string;
      const goesOn = isOpen && index === texts.length - 1;
      const isAll = !goesOn && `${text.slice(0, piece.start)}${text.slice(piece.end)}`.trim() === '';
      return { ...piece, index, redaction: place === 0 || isAll ? redaction : '' };
    });
  }

  /** A span of joined texts without their blanks; undefined = it spans no cut. */
  #inDirect(
    { start, end }: Pick<Piece, 'start' | 'end'>,
    joint: Joint,
  ): Pick<Piece, 'start' | 'end'> | undefined {
    const pieces = piecesIn(joint, start, end);
    const [first, last] = [pieces[0], pieces[pieces.length - 1]];
    if (first === undefined || last === undefined) return undefined;
    for (let index = first.index + 1; index <= last.index; index++) {
      if (!this.#isCut(index + this.#from)) continue;
      const startOf = ({ index }: Piece) => this.#direct.starts[index] as number;
      return { start: startOf(first) + first.start, end: startOf(last) + last.end };
    }
    return undefined;
  }
}

/** What the scan of each single text finds, as it is needed. */
class OwnFindings {
  readonly #texts: readonly string[];
  readonly #scanner: CutScanner;
  readonly #found = new Map<number, Finding[]>();

  constructor(texts: readonly string[], scanner: CutScanner) {
    this.#texts = texts;
    this.#scanner = scanner;
  }

  /** Whether a text holds a match of the same filter that overlaps with one of the pieces. */
  *overlap(finding: Finding, pieces: readonly Piece[]): Sliced<boolean> {
    for (const piece of pieces) {
      const own =
        this.#found.get(piece.index) ?? (yield* this.#scanner.scan(this.#texts[piece.index] as string));
      this.#found.set(piece.index, own);
      const key = sourceKey(finding);
      if (own.some((each) => each.start < piece.end && piece.start < each.end && sourceKey(each) === key))
        return true;
    }
    return false;
  }
}

function overlap(one: Piece, other: Piece): boolean {
  return one.index === other.index && one.start < other.end && other.start < one.end;
}

/** Equal for pieces of one text in findings of the same filter. */
function pieceKey(finding: Finding, { index }: Piece): string {
  return `${index} ${sourceKey(finding)}`;
}

/** Equal for findings of the same filter. */
function sourceKey({ guardrailId, name, label, action }: Finding): string {
  return `${guardrailId} ${action} ${name} ${label}`;
}

/** Matches of one filter that overlap are one. */
function merged(found: readonly Finding[], text: string): Finding[] {
  const spans: Finding[] = [];
  const places = new Map<string, number>();
  for (const finding of [...found].sort((left, right) => left.start - right.start)) {
    const key = sourceKey(finding);
    const place = places.get(key);
    const last = place === undefined ? undefined : spans[place];
    const isSame = last !== undefined && finding.start === last.start && finding.end === last.end;
    if (place !== undefined && last !== undefined && (isSame || finding.start < last.end)) {
      spans[place] = { ...last, end: Math.max(last.end, finding.end) };
    } else places.set(key, spans.push(finding) - 1);
  }
  return spans.map((span) => ({ ...span, text: text.slice(span.start, span.end) }));
}

interface Joint {
  readonly text: string;
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
}

const NOWHERE = () => false;
const EVERYWHERE = () => true;

/** `isSpaced`: whether a blank is to stand before the text at an index, if it follows none. */
function joined(texts: readonly string[], isSpaced: (index: number) => boolean): Joint {
  const starts: number[] = [];
  let text = '';
  let before = '';
  for (const [index, each] of texts.entries()) {
    if (isSpaced(index) && !hasBlank(before, each)) text += ' ';
    starts.push(text.length);
    text += each;
    if (each !== '') before = each;
  }
  return { text, starts, lengths: texts.map(({ length }) => length) };
}

/** The joints without those of the same text. Blanks stand at the cuts of the one before and others at most. */
function distinct(joints: readonly Joint[]): Joint[] {
  return joints.filter(({ text }, at) =>
    joints.slice(0, at).every((before) => before.text.length !== text.length),
  );
}

const BLANK = /\s/;

/** Whether a blank stands at the cut between two texts, of which one may be empty. */
export function hasBlank(before: string, after: string): boolean {
  if (before === '' || after === '') return true;
  return BLANK.test(before[before.length - 1] as string) || BLANK.test(after[0] as string);
}

/** The pieces of a span, none of them empty, with their positions in their texts. */
function piecesIn({ starts, lengths }: Joint, start: number, end: number): Piece[] {
  let low = 0;
  for (let high = starts.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= start) low = middle;
    else high = middle - 1;
  }
  const pieces: Piece[] = [];
  for (let index = low; index < starts.length && (starts[index] as number) < end; index++) {
    const at = starts[index] as number;
    const piece = {
      index,
      start: Math.max(0, start - at),
      end: Math.min(end - at, lengths[index] as number),
    };
    if (piece.start < piece.end) pieces.push(piece);
  }
  return pieces;
}

/** The surroundings of cuts, in order. Those that meet are one. */
function windowsAround(cuts: readonly number[], text: string): { start: number; end: number }[] {
  const windows: { start: number; end: number; enoughFor: number }[] = [];
  for (const cut of cuts) {
    const last = windows[windows.length - 1];
    const start = last !== undefined && cut <= last.end ? last.end : away(text, cut, -1, last?.end ?? 0);
    if (last === undefined || start > last.end) {
      windows.push({ start, end: away(text, cut, 1, text.length), enoughFor: cut });
    } else if (cut > last.enoughFor) {
      last.enoughFor = Math.max(cut, last.end);
      last.end = away(text, last.enoughFor, 1, text.length);
    }
  }
  return windows;
}

/** Characters that may join with the one before them, or vanish, and halves of characters. */
const UNCOUNTED = /[\p{M}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\uff9e-\uffdc\ud800-\udfff]/u;

/** The position a number of visible characters away from a cut, at most at `limit`. */
export function away(text: string, cut: number, step: 1 | -1, limit: number): number {
  let at = cut;
  for (let visible = 0; visible < WINDOW_CHARACTERS && at !== limit; at += step) {
    const character = text[step === 1 ? at : at - 1] as string;
    if (character < '\u0080' || !UNCOUNTED.test(character)) visible++;
  }
  return at;
}
