import type { Event } from '../../../ir/events.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import { redacted } from '../filters/finding.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import { type ProgressEvent, progressKey, progressPieces, withPieces } from './progress-pieces.ts';
import type { ReceivedText } from './received-text.ts';
import { mapReceived } from './received-texts.ts';
import { pushedInSlices } from './text-runs.ts';

/** Texts that are followed at once. An upstream must not fill the memory with more. */
const MAX_FOLLOWED = 256;

/** A text in pieces, and its last event without its pieces. */
interface OpenText {
  readonly text: ReceivedText;
  event: ProgressEvent;
  /** Place of the text among the pieces of the event. */
  place: number;
}

/**
 * Scans the events of one leg that the representation does not model. Texts that come in pieces are scanned joined: the
 * end of a piece that more could make part of a match goes on with the next one. All other texts are scanned as they
 * stand, and for what begins in the same text of the last event of the kind, which has gone on.
 */
export class ProgressTexts {
  readonly #scan: GuardrailScan;
  readonly #open = new Map<string, OpenText>();
  /** The ends of other texts that more text could make part of a match. */
  readonly #ends = new Map<string, string>();

  constructor(scan: GuardrailScan) {
    this.#scan = scan;
  }

  /** The events that may go on. */
  *take(given: ProgressEvent): Sliced<Event[]> {
    const pieces = progressPieces(given);
    const out = this.#endedBy(given);
    const key = progressKey(given);
    const event = yield* mapReceived(withPieces(given, []), this.#scan, (text, member) =>
      this.#whole(`${key} ${member}`, text),
    );
    const released: string[] = [];
    for (const [place, piece] of pieces.entries()) {
      const { text } = this.#openText(piece.key, event, place);
      this.#scan.countReceived(piece.text.length);
      released.push(yield* pushedInSlices(text, piece.text, this.#scan));
    }
    out.push(withPieces(event, released));
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_FOLLOWED) break;
      this.#end(oldest, out);
    }
    return out;
  }

  /** What was held back of the texts of an item; of all if it is undefined. */
  end(item?: number): Event[] {
    const out: Event[] = [];
    for (const [key, { event }] of this.#open) {
      if (item === undefined || ('item' in event && event.item === item)) this.#end(key, out);
    }
    return out;
  }

  /** What was held back of texts that an event repeats whole. */
  #endedBy({ value }: ProgressEvent): Event[] {
    const out: Event[] = [];
    const type = String(value.type);
    if (this.#open.size === 0 || !type.endsWith('.done')) return out;
    const ended = type.replace(/done$/, 'delta');
    for (const [key, { event }] of this.#open) if (event.value.type === ended) this.#end(key, out);
    return out;
  }

  #openText(key: string, event: ProgressEvent, place: number): OpenText {
    let open = this.#open.get(key);
    if (open === undefined) {
      open = { text: this.#scan.receivedPieces(), event, place };
      this.#open.set(key, open);
    }
    open.event = event;
    open.place = place;
    return open;
  }

  #end(key: string, out: Event[]): void {
    const open = this.#open.get(key);
    this.#open.delete(key);
    const rest = open?.text.end() ?? '';
    if (open === undefined || rest === '') return;
    const texts: string[] = [];
    texts[open.place] = rest;
    out.push(withPieces(open.event, texts));
  }

  *#whole(key: string, text: string): Sliced<string> {
    const before = this.#ends.get(key);
    const crossed =
      before === undefined
        ? undefined
        : yield* this.#scan.receivedAcross({ texts: [before, text], items: [0, 0], isOpen: false });
    const findings = crossed?.get(1);
    const passed = yield* this.#scan.receivedText(findings === undefined ? text : redacted(text, findings));
    const stream = this.#scan.receivedStream();
    stream.push(before === undefined || crossed?.size !== 0 ? text : before + text);
    const { openEnd } = stream;
    this.#ends.delete(key);
    if (openEnd !== undefined) this.#ends.set(key, openEnd.text);
    for (const oldest of this.#ends.keys()) {
      if (this.#ends.size <= MAX_FOLLOWED) break;
      this.#ends.delete(oldest);
    }
    return passed;
  }
}
