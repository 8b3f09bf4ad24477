import type { Event, ItemHead, PartKind } from '../../../ir/events.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import { type AdjoiningTexts, hasBlank } from '../filters/crossings.ts';
import type { StreamScan } from '../filters/stream-scan.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import type { TextDelta } from './text-runs.ts';

/** Characters of a text that are read at a time until no match can span the cut any more. */
const SLICE_CHARACTERS = 256;

/** A text of an answer, of a part whose place in the output is known. */
interface CutText {
  readonly item: number;
  readonly part: number;
  readonly kind: PartKind;
  text: string;
  /** Where `text` begins in the part. */
  readonly from: number;
}

/** The end of a part that the next text could make part of a match. */
export interface OpenPartEnd extends Omit<CutText, 'text' | 'from'> {
  readonly end: NonNullable<StreamScan['openEnd']>;
  readonly type: ItemHead['type'] | undefined;
  /** It went on before something of another kind came: what a match takes of it can no longer be replaced. */
  readonly isSent?: boolean;
}

/**
 * The cut between a part of an answer and the text after it, as long as a match may span it. Events are held back until
 * the next text shows that none does, or none follows. If that text ends before, there is one more cut.
 */
export class AnswerCut {
  readonly events: Event[] = [];
  readonly #scan: GuardrailScan;
  readonly #texts: [CutText, ...CutText[]];
  readonly #type: ItemHead['type'] | undefined;
  readonly #isSent: boolean;
  /** Follow the texts joined without blanks, and with one at each cut that has none. */
  readonly #direct: FollowedText;
  #spaced: FollowedText | undefined;
  #isPartOver = true;

  constructor(scan: GuardrailScan, { item, part, kind, end, type, isSent = false }: OpenPartEnd) {
    this.#scan = scan;
    this.#texts = [{ item, part, kind, text: end.text, from: end.from }];
    this.#type = type;
    this.#isSent = isSent;
    this.#direct = new FollowedText(scan.receivedStream());
    this.#direct.push(end.text);
  }

  /**
   * Holds an event back. Returns `settled` if nothing can span the last cut any more once the event is read, and `over`
   * if the event does not go on with the texts: it is not held.
   */
  *take(event: Event): Sliced<'held' | 'settled' | 'over'> {
    if (!this.#goesOnWith(event)) return 'over';
    this.events.push(event);
    if (event.type === 'part-end' || event.type === 'item-end') this.#isPartOver = true;
    if (event.type !== 'text-delta' || event.text === '') return 'held';
    this.#begin(event);
    for (let at = 0; at < event.text.length; at += SLICE_CHARACTERS) {
      if (at > 0) yield;
      const piece = event.text.slice(at, at + SLICE_CHARACTERS);
      this.#last.text += piece;
      this.#direct.push(piece);
      this.#spaced?.push(piece);
      if (this.#direct.isSettled && this.#spaced?.isSettled !== false) return 'settled';
    }
    return 'held';
  }

  /** The texts at the cuts. `isOpen`: more of the last one may come. */
  adjoining(isOpen: boolean): AdjoiningTexts {
    return {
      texts: this.#texts.map(({ text }) => text),
      items: this.#texts.map(({ item }) => item),
      isOpen,
    };
  }

  /** The part of a text that is held back, and where the text begins in it. */
  textAt(index: number): Omit<CutText, 'text'> | undefined {
    return this.#isSent && index === 0 ? undefined : this.#texts[index];
  }

  /**
   * What the next message goes on with if an item of another kind comes before it: thoughts or a call do not wait for
   * a text that may never come. `isCrossed`: a match spans the texts. Undefined = nothing does.
   */
  sentEnd(isCrossed: boolean): OpenPartEnd | undefined {
    if (this.#type !== 'message') return undefined;
    const { item, part, kind, text } = this.#last;
    const joined = isCrossed ? text : this.#texts.map((each) => each.text).join('');
    return { item, part, kind, end: { text: joined, from: 0, start: 0 }, type: this.#type, isSent: true };
  }

  get #last(): CutText {
    return this.#texts[this.#texts.length - 1] as CutText;
  }

  #goesOnWith(event: Event): boolean {
    switch (event.type) {
      case 'text-delta':
        return isSummary(event.kind) === isSummary(this.#last.kind);
      case 'item-start':
        return event.head.type === this.#type;
      case 'part-start':
      case 'part-end':
      case 'item-end':
      case 'annotation':
      case 'seal':
      case 'usage':
      case 'opaque':
        return true;
      default:
        return false;
    }
  }

  /** Begins the text of a piece, unless it is the last one that goes on. */
  #begin({ item, part, kind, text }: TextDelta): void {
    const last = this.#last;
    const isLast = last.item === item && last.part === part && last.kind === kind;
    if (isLast && !this.#isPartOver) return;
    this.#isPartOver = false;
    if (!hasBlank(last.text, text) && this.#spaced === undefined) {
      this.#spaced = new FollowedText(this.#scan.receivedStream());
      this.#spaced.push(this.#texts.map((each) => each.text).join(''));
    }
    if (!hasBlank(last.text, text)) this.#spaced?.push(' ');
    this.#direct.cut();
    this.#spaced?.cut();
    this.#texts.push({ item, part, kind, text: '', from: 0 });
  }
}

function isSummary(kind: PartKind): boolean {
  return kind === 'summary';
}

/** A joined text, and whether something before its last cut may still become part of a match. */
class FollowedText {
  readonly #stream: StreamScan;
  #length = 0;
  #cutAt = 0;
  #isBlocked = false;

  constructor(stream: StreamScan) {
    this.#stream = stream;
  }

  push(piece: string): void {
    this.#length += piece.length;
    const { findings } = this.#stream.push(piece);
    if (findings.some(({ action }) => action === 'block')) this.#isBlocked = true;
  }

  cut(): void {
    this.#cutAt = this.#length;
  }

  get isSettled(): boolean {
    return this.#isBlocked || (this.#stream.openEnd?.start ?? this.#length) >= this.#cutAt;
  }
}
