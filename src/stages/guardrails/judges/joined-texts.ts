import { away, hasBlank } from '../filters/crossings.ts';
import { type Finding, redacted } from '../filters/finding.ts';
import type { JudgedText } from './judge.ts';

/** Texts that a model reads one right after the other. */
export interface JudgedRow {
  /** Their places among all texts that are judged. */
  readonly texts: readonly number[];
  /** For each the number of the item that it is part of, in order. */
  readonly items: readonly number[];
}

/** A piece of a text of a row, as it stands in a joined text. */
interface JoinedPiece {
  /** Its place in the row. */
  readonly at: number;
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** The ends of texts around cuts in one text. */
export interface JoinedText {
  readonly row: JudgedRow;
  readonly judged: JudgedText;
  readonly pieces: readonly JoinedPiece[];
}

/** What stands around the cuts of a row, joined without blanks, and with one at each cut that has none. */
export function joinedTexts(row: JudgedRow, texts: readonly JudgedText[]): JoinedText[] {
  const found: JoinedText[] = [];
  const ofRow = row.texts.map((index) => texts[index] as JudgedText);
  /** Where each text ends what goes with its predecessor, and begins what goes with its successor. */
  const heads = ofRow.map(({ text }) => away(text, 0, 1, text.length));
  const tails = ofRow.map(({ text }) => away(text, text.length, -1, 0));
  for (let first = 0; first + 1 < ofRow.length; ) {
    let last = first + 1;
    while (last + 1 < ofRow.length && (tails[last] as number) <= (heads[last] as number)) last++;
    const pieces = (isSpaced: boolean) => {
      let joined = '';
      const all: JoinedPiece[] = [];
      for (let at = first; at <= last; at++) {
        const { text } = ofRow[at] as JudgedText;
        const from = at === first ? (tails[at] as number) : 0;
        const piece = text.slice(from, at === last ? heads[at] : text.length);
        if (isSpaced && !hasBlank(joined, piece)) joined += ' ';
        all.push({ at, from, start: joined.length, end: joined.length + piece.length });
        joined += piece;
      }
      return { joined, all };
    };
    const { role, place } = ofRow[first] as JudgedText;
    const direct = pieces(false);
    const spaced = pieces(true);
    for (const { joined, all } of direct.joined === spaced.joined ? [direct] : [direct, spaced]) {
      found.push({ row, judged: { text: joined, role, place, joined: all.length }, pieces: all });
    }
    first = last;
  }
  return found;
}

export interface FoundSpans {
  ofText(index: number): readonly Finding[];
  ofJoined(place: number): readonly Finding[];
}

/** What a service found in joined texts, besides what it found in each of the texts alone. */
export interface JoinedFindings {
  readonly findings: readonly Finding[];
  /** For each row the texts that change, by their places in it. */
  readonly changed: ReadonlyMap<JudgedRow, ReadonlyMap<number, string>>;
}

/**
 * Maps what was found in joined texts back to the texts of their rows. The redaction stands in the first of them, and
 * nothing in the others. What one text holds alone ends with its item, as filters have it.
 */
export function joinedFindings(
  texts: readonly JudgedText[],
  joined: readonly JoinedText[],
  found: FoundSpans,
): JoinedFindings {
  const findings: Finding[] = [];
  const spans = new Map<JudgedRow, Map<number, Finding[]>>();
  for (const [place, { row, pieces }] of joined.entries()) {
    const ofRow = spans.get(row) ?? new Map<number, Finding[]>();
    spans.set(row, ofRow);
    const ownOf = (at: number) => found.ofText(row.texts[at] as number);
    for (const finding of found.ofJoined(place)) {
      const parts = partsOf(finding, pieces);
      const [first, last] = [parts[0], parts[parts.length - 1]];
      if (first === undefined || last === undefined) continue;
      const isOwn = parts.some(({ at, span }) => ownOf(at).some((each) => overlap(each, span)));
      if (isOwn && (first === last || row.items[first.at] !== row.items[last.at])) continue;
      const isKnown = parts.some(({ at, span }) => ofRow.get(at)?.some((each) => overlap(each, span)));
      if (!isOwn && !isKnown) findings.push(finding);
      for (const { at, span } of parts) {
        const { text } = texts[row.texts[at] as number] as JudgedText;
        // Some upstreams refuse empty texts.
        const isAll = `${text.slice(0, span.start)}${text.slice(span.end)}`.trim() === '';
        const redaction = at === first.at || isAll ? finding.redaction : '';
        ofRow.set(at, [...(ofRow.get(at) ?? []), { ...span, redaction }]);
      }
    }
  }
  const changed = new Map<JudgedRow, Map<number, string>>();
  for (const [row, ofRow] of spans) {
    const changedOfRow = new Map<number, string>();
    for (const [at, ofText] of ofRow) {
      const index = row.texts[at] as number;
      const { text } = texts[index] as JudgedText;
      const result = redacted(text, [...ofText, ...found.ofText(index)]);
      if (ofText.some(({ action }) => action === 'redact')) changedOfRow.set(at, result);
    }
    changed.set(row, changedOfRow);
  }
  return { findings, changed };
}

/** The pieces of a finding in the texts of a row. What was inserted between characters is left to the texts alone. */
function partsOf(finding: Finding, pieces: readonly JoinedPiece[]): { at: number; span: Finding }[] {
  return pieces.flatMap(({ at, from, start, end }) => {
    const [begin, until] = [Math.max(finding.start, start), Math.min(finding.end, end)];
    if (begin >= until) return [];
    return [{ at, span: { ...finding, start: begin - start + from, end: until - start + from } }];
  });
}

function overlap(one: Finding, other: Finding): boolean {
  return one.start < other.end && other.start < one.end;
}
