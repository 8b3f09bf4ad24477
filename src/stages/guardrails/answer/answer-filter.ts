import type { Event, EventBatch, ItemHead, PartKind } from '../../../ir/events.ts';
import type { Logprobs } from '../../../ir/items.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import type { Finding } from '../filters/finding.ts';
import type { GuardrailScan } from '../guardrail-scan.ts';
import { receivedCharacters, textsOf } from '../receipt/received-characters.ts';
import { AnswerCut, type OpenPartEnd } from './answer-cut.ts';
import type { ProgressEvent } from './progress-pieces.ts';
import { ProgressTexts } from './progress-texts.ts';
import type { ReceivedText } from './received-text.ts';
import { mapReceived } from './received-texts.ts';
import { pushedInSlices, runAt, type TextDelta, type TextInPieces } from './text-runs.ts';
import { ToolInputPieces } from './tool-input-pieces.ts';
import { withoutPlace } from './without-place.ts';

type PartEnd = Extract<Event, { type: 'part-end' }>;

/** A part of an item whose text is being scanned. */
interface OpenPart {
  readonly item: number;
  readonly part: number;
  readonly kind: PartKind;
  readonly text: ReceivedText;
  /** Characters that came in, and that went on. */
  read: number;
  released: number;
  /** Log probabilities of text that is held back, with the place where it ends. */
  logprobs: { readonly end: number; readonly entries: Logprobs }[];
  /** Events that follow text which is held back. */
  waiting: Event[];
}

interface OpenItem {
  readonly type: ItemHead['type'] | undefined;
  readonly parts: Map<string, OpenPart>;
  input: TextInPieces | undefined;
  isFunction: boolean;
  /** Text of it was replaced: seals over it no longer hold. */
  isChanged: boolean;
  seals: Event[];
}

/** Types of events that have texts which come whole, or end one that the next could go on with. */
const NEVER_SHORT: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'part-end',
  'annotation',
  'item-start',
  'item-end',
  'finish',
  'part-start',
  'opaque',
  'image-data',
]);

/**
 * Scans the events of one leg. Text goes on as soon as no pattern can match it across the next cut; the order of
 * events stays. Stop passing events on as soon as `scan.isBlocked`.
 */
export class AnswerFilter {
  readonly #scan: GuardrailScan;
  readonly #items = new Map<number, OpenItem>();
  #recent: OpenPart | undefined;
  /** Where a text has ended that the next one could make part of a match. */
  #cut: AnswerCut | undefined;
  /** The end of a message that went on, until the next message shows whether it makes a match with it. */
  sentEnd: OpenPartEnd | undefined;
  /** What a match that spans a cut replaces in parts that have not begun, by item and part. */
  readonly #covers = new Map<string, readonly Finding[]>();
  /** Present once an event came that the representation does not model. */
  #progress: ProgressTexts | undefined;

  constructor(scan: GuardrailScan) {
    this.#scan = scan;
  }

  /** The events that may go on, at once or in slices. Those after a block are left out. */
  push(batch: EventBatch): Event[] | Sliced<Event[]> {
    return this.isShort(batch) ? this.pushShort(batch) : this.#inSlices(batch);
  }

  /** `push` for a short batch, without slices. */
  pushShort(batch: EventBatch): Event[] {
    const out: Event[] = [];
    for (let at = 0; at < batch.length && !this.#scan.isBlocked; ) {
      const run = runAt(batch, at);
      if (run === undefined) this.#passShort(batch[at] as Event, out);
      else {
        const { part, held, text } = this.#beginRun(run);
        this.#releaseRun(part, run, held, part.text.push(text), out);
      }
      at += run?.length ?? 1;
    }
    return out;
  }

  /** True if the batch has little text, all of it in pieces. */
  isShort(batch: EventBatch): boolean {
    if (this.#cut !== undefined || this.sentEnd !== undefined) return false;
    let characters = 0;
    for (const event of batch) {
      if (event.type === 'text-delta' || event.type === 'tool-input-delta') characters += event.text.length;
      else if (NEVER_SHORT.has(event.type)) return false;
    }
    return characters <= this.#scan.sliceCharacters;
  }

  *#inSlices(batch: EventBatch): Sliced<Event[]> {
    const out: Event[] = [];
    for (let at = 0; at < batch.length && !this.#scan.isBlocked; ) {
      const cut = this.#cut ?? this.#cutBefore(batch[at] as Event);
      if (cut !== undefined) {
        yield* this.#passAtCut(cut, batch[at] as Event, out);
        at++;
        continue;
      }
      const run = runAt(batch, at);
      if (run === undefined) yield* this.#pass(batch[at] as Event, out);
      else {
        const { part, held, text } = this.#beginRun(run);
        const release = yield* pushedInSlices(part.text, text, this.#scan);
        this.#releaseRun(part, run, held, release, out);
      }
      at += run?.length ?? 1;
      yield;
    }
    return out;
  }

  /** Holds an event back at a cut, or ends the cut. */
  *#passAtCut(cut: AnswerCut, event: Event, out: Event[]): Sliced<void> {
    const state = yield* cut.take(event);
    if (state === 'held') return;
    this.#cut = undefined;
    const crossed = yield* this.#scan.receivedAcross(cut.adjoining(state === 'settled'));
    if (this.#scan.isBlocked) {
      this.#scan.countReceived(receivedCharacters(cut.events));
      return;
    }
    for (const [index, findings] of crossed) this.#cover(cut, index, findings);
    for (const held of cut.events) {
      if (held.type === 'part-end') this.#endPart(held, out);
      else yield* this.#pass(held, out);
      yield;
    }
    if (state !== 'over' || this.#scan.isBlocked) return;
    this.sentEnd = cut.sentEnd(crossed.size > 0) ?? this.sentEnd;
    yield* this.#pass(event, out);
  }

  /** The cut between a message that went on and the text that begins with an event, if it is one. */
  #cutBefore(event: Event): AnswerCut | undefined {
    if (this.sentEnd === undefined || event.type !== 'text-delta') return undefined;
    if (this.#itemAt(event.item).type !== 'message') return undefined;
    this.#cut = new AnswerCut(this.#scan, this.sentEnd);
    this.sentEnd = undefined;
    return this.#cut;
  }

  /** Replaces what a match takes of a text at a cut. */
  #cover(cut: AnswerCut, index: number, findings: readonly Finding[]): void {
    const place = cut.textAt(index);
    if (place === undefined) return;
    const { item, part, kind, from } = place;
    const moved = findings.map((each) => ({ ...each, start: each.start + from, end: each.end + from }));
    const open = this.#items.get(item)?.parts.get(partKey(part, kind));
    if (open === undefined) this.#covers.set(`${item} ${partKey(part, kind)}`, moved);
    else for (const each of moved) open.text.cover(each);
  }

  *#pass(event: Event, out: Event[]): Sliced<void> {
    switch (event.type) {
      case 'text-delta': {
        const part = this.#beginText(event);
        this.#release(part, yield* pushedInSlices(part.text, event.text, this.#scan), out);
        return;
      }
      case 'tool-input-delta': {
        const release = yield* pushedInSlices(this.#beginInput(event), event.text, this.#scan);
        if (release !== '') out.push({ ...event, text: release });
        return;
      }
      case 'annotation': {
        const part = this.#partAt(event.item, event.part, 'text');
        const passed = { ...event, annotation: yield* this.#mapped(event.annotation) };
        if (part.text.isHolding) part.waiting.push(passed);
        else out.push(...(part.text.isChanged ? withoutPlace(passed) : [passed]));
        return;
      }
      case 'item-start':
        out.push(yield* this.#mapped(event));
        this.#items.set(event.item, openItem(event));
        return;
      case 'item-end':
        this.#endItem(event.item, out);
        out.push(yield* this.#mapped(event));
        return;
      case 'finish':
        this.#endItems(out);
        out.push({ ...event, ...(yield* this.#mapped(textsOf(event))) });
        return;
      case 'part-start':
      case 'image-data':
        out.push(yield* this.#mapped(event));
        return;
      case 'opaque':
        yield* this.#passProgress(event, out);
        return;
      default:
        this.#passShort(event, out);
    }
  }

  /** What follows text that is held back waits for it. */
  *#passProgress(event: ProgressEvent, out: Event[]): Sliced<void> {
    this.#progress ??= new ProgressTexts(this.#scan);
    const passed = yield* this.#progress.take(event);
    const part = this.#recent;
    (part?.text.isHolding ? part.waiting : out).push(...passed);
  }

  #endProgress(out: Event[], item?: number): void {
    if (this.#progress !== undefined) out.push(...this.#progress.end(item));
  }

  /** An event without whole texts. */
  #passShort(event: Event, out: Event[]): void {
    switch (event.type) {
      case 'text-delta': {
        const part = this.#beginText(event);
        this.#release(part, part.text.push(event.text), out);
        return;
      }
      case 'tool-input-delta': {
        const release = this.#beginInput(event).push(event.text);
        if (release !== '') out.push({ ...event, text: release });
        return;
      }
      case 'part-end':
        if (!this.#beginCut(event)) this.#endPart(event, out);
        return;
      case 'seal':
        this.#itemAt(event.item).seals.push(event);
        return;
      case 'failure':
        this.#endItems(out);
        out.push(event);
        return;
      default:
        out.push(event);
    }
  }

  #beginText({ item, part: index, kind, text, logprobs }: TextDelta): OpenPart {
    const part = this.#partAt(item, index, kind);
    this.#scan.countReceived(text.length);
    part.read += text.length;
    if (logprobs !== undefined) part.logprobs.push({ end: part.read, entries: logprobs });
    return part;
  }

  /** Pieces in a row are scanned together, which costs little more than to scan one of them. */
  #beginRun(run: readonly TextDelta[]): { part: OpenPart; held: number; text: string } {
    let text = '';
    for (const piece of run) text += piece.text;
    const first = run[0] as TextDelta;
    const part = this.#partAt(first.item, first.part, first.kind);
    this.#scan.countReceived(text.length);
    part.read += text.length;
    return { part, held: part.text.heldCharacters, text };
  }

  /** Forwards the released text of a run. Text that is not changed keeps its pieces. `held`: characters before them. */
  #releaseRun(part: OpenPart, run: readonly TextDelta[], held: number, release: string, out: Event[]): void {
    if (part.text.isChanged || part.logprobs.length > 0) {
      this.#release(part, release, out);
      return;
    }
    part.released += release.length;
    let sent = 0;
    let end = held;
    for (const piece of run) {
      const start = end;
      end += piece.text.length;
      if (sent >= release.length) break;
      if (sent === start && end <= release.length) out.push(piece);
      else out.push({ ...piece, text: release.slice(sent, end) });
      sent = Math.min(end, release.length);
    }
    if (part.waiting.length > 0 && !part.text.isHolding) this.#releaseWaiting(part, out);
  }

  #beginInput({ item: index, text }: Extract<Event, { type: 'tool-input-delta' }>): TextInPieces {
    const item = this.#itemAt(index);
    this.#scan.countReceived(text.length);
    item.input ??= item.isFunction
      ? new ToolInputPieces(() => this.#scan.receivedPieces())
      : this.#scan.receivedPieces();
    return item.input;
  }

  /** Forwards released text of a part, and the events that waited for it. */
  #release(part: OpenPart, release: string, out: Event[]): void {
    const { item, part: index, kind, text } = part;
    if (text.isChanged) this.#itemAt(item).isChanged = true;
    part.released += release.length;
    const logprobs = this.#logprobs(part);
    if (release !== '') {
      out.push({ type: 'text-delta', item, part: index, kind, text: release, ...(logprobs && { logprobs }) });
    }
    if (part.waiting.length > 0 && !text.isHolding) this.#releaseWaiting(part, out);
  }

  #releaseWaiting(part: OpenPart, out: Event[]): void {
    for (const waiting of part.waiting)
      out.push(...(part.text.isChanged ? withoutPlace(waiting) : [waiting]));
    part.waiting = [];
  }

  /** Log probabilities of the forwarded text. Those of changed text are left out: they would reveal it. */
  #logprobs(part: OpenPart): Logprobs | undefined {
    if (part.logprobs.length === 0) return undefined;
    if (part.text.isChanged) {
      part.logprobs = [];
      return undefined;
    }
    const count = part.logprobs.findIndex(({ end }) => end > part.released);
    const ready = part.logprobs.splice(0, count === -1 ? part.logprobs.length : count);
    return ready.length === 0 ? undefined : ready.flatMap(({ entries }) => entries);
  }

  /** True if the next text could make the end of a part part of a match: it is held back. */
  #beginCut(event: PartEnd): boolean {
    const { item, part, kind } = event;
    const { type, parts } = this.#itemAt(item);
    const end = parts.get(partKey(part, kind))?.text.openEnd;
    if (end === undefined) return false;
    this.#cut = new AnswerCut(this.#scan, { item, part, kind, end, type });
    this.#cut.events.push(event);
    return true;
  }

  #endPart(event: PartEnd, out: Event[]): void {
    const { parts } = this.#itemAt(event.item);
    const key = partKey(event.part, event.kind);
    const part = parts.get(key);
    if (part !== undefined) {
      this.#closePart(part, out);
      parts.delete(key);
    }
    this.#endProgress(out, event.item);
    out.push(event);
  }

  #closePart(part: OpenPart, out: Event[]): void {
    this.#release(part, part.text.end(), out);
    this.#releaseWaiting(part, out);
    if (this.#recent === part) this.#recent = undefined;
  }

  #endItem(index: number, out: Event[]): void {
    const item = this.#items.get(index);
    if (item === undefined) return;
    this.#items.delete(index);
    for (const part of item.parts.values()) this.#closePart(part, out);
    this.#endProgress(out, index);
    if (item.input !== undefined) {
      const release = item.input.end();
      if (release !== '') out.push({ type: 'tool-input-delta', item: index, text: release });
      if (item.input.isChanged) item.isChanged = true;
    }
    if (!item.isChanged) out.push(...item.seals);
  }

  #endItems(out: Event[]): void {
    for (const item of [...this.#items.keys()]) this.#endItem(item, out);
    this.#endProgress(out);
  }

  /** Replaces texts that come whole. */
  #mapped<T>(value: T): Sliced<T> {
    return mapReceived(value, this.#scan, (text) => this.#scan.receivedText(text));
  }

  #coverBegun(key: string, text: ReceivedText): void {
    const findings = this.#covers.get(key);
    if (findings === undefined) return;
    this.#covers.delete(key);
    for (const finding of findings) text.cover(finding);
  }

  #itemAt(index: number): OpenItem {
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const begun = openItem(undefined);
    this.#items.set(index, begun);
    return begun;
  }

  #partAt(item: number, part: number, kind: PartKind): OpenPart {
    const recent = this.#recent;
    if (recent !== undefined && recent.item === item && recent.part === part && recent.kind === kind) {
      return recent;
    }
    const { parts } = this.#itemAt(item);
    const key = partKey(part, kind);
    let found = parts.get(key);
    if (found === undefined) {
      const text = this.#scan.receivedPieces();
      found = { item, part, kind, text, read: 0, released: 0, logprobs: [], waiting: [] };
      parts.set(key, found);
      this.#coverBegun(`${item} ${key}`, text);
    }
    this.#recent = found;
    return found;
  }
}

function partKey(part: number, kind: PartKind): string {
  return `${kind === 'summary' ? 'summary' : 'part'} ${part}`;
}

function openItem(start: Extract<Event, { type: 'item-start' }> | undefined): OpenItem {
  const isFunction = start?.head.type === 'tool-call' && start.head.kind === 'function';
  return {
    type: start?.head.type,
    parts: new Map(),
    input: undefined,
    isFunction,
    isChanged: false,
    seals: [],
  };
}
