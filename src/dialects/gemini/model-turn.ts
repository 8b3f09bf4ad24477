import type { Item, ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import { callInputPlace, callSealPlace } from '../shared/report/caller-places.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { flatArguments } from '../shared/tools/tool-names.ts';
import { ownId } from './ids.ts';
import { ownSealOfCall, ownSealOfThoughts } from './reasoning.ts';
import type { RenderContext } from './render-context.ts';
import { FOREIGN_SEAL, NO_FIELD, reportLostMembers } from './render-losses.ts';
import type { PartRenderer } from './render-parts.ts';
import { NO_SIGNATURE, textPart, type WirePart } from './wire.ts';

/** What the model said in one turn, item by item. */
export type ModelItem = Exclude<Item, { type: 'tool-result' }>;

/** A seal whose part is another item than the one that brings it. */
interface LooseSeal {
  readonly signature: string;
  /** It came on a part with content, not on one of its own. */
  readonly isOnContent: boolean;
}

/**
 * Makes the parts of one turn of the model. Signatures go back onto the parts that they came on: those of calls by the
 * id of the call, those of thoughts with the thoughts, others by the place where they stand.
 */
export class ModelTurn {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  readonly #parts: WirePart[] = [];
  /** Seals of calls that came as thoughts of their own, by the id of the call. */
  readonly #sealsOfCalls = new Map<string, string>();
  /** The parts that are words or images. */
  readonly #spoken: WirePart[] = [];
  /** Chat callers may send all thoughts first: their seals wait for what was said. */
  readonly #waiting: LooseSeal[] = [];

  constructor(context: RenderContext, renderer: PartRenderer) {
    this.#context = context;
    this.#renderer = renderer;
  }

  render(items: readonly ModelItem[]): WirePart[] {
    const callIds = new Set(items.map((item) => (item.type === 'tool-call' ? item.callId : undefined)));
    for (const item of items) {
      if (item.type === 'reasoning' && callIds.has(item.id)) this.#noteSealOfCall(item);
    }
    for (const item of items) {
      this.#add(item);
    }
    this.#placeWaiting();
    this.#signFirstCall();
    return this.#parts;
  }

  #noteSealOfCall(item: ReasoningItem): void {
    const seal = ownSealOfThoughts(item);
    if (item.id !== undefined && seal !== undefined) this.#sealsOfCalls.set(item.id, seal);
  }

  #add(item: ModelItem): void {
    const { report } = this.#context;
    switch (item.type) {
      case 'message':
        reportLostMembers(item, 'items', report);
        if (item.phase !== undefined) report.dropped(report.place(item, 'items', 'phase'), NO_FIELD);
        for (const part of this.#renderer.parts(item.content)) this.#speak(part);
        return;
      case 'reasoning':
        this.#addThoughts(item);
        return;
      case 'tool-call':
        this.#parts.push(this.#call(item));
        return;
      case 'image':
        reportLostMembers(item, 'items', report);
        for (const part of this.#renderer.source(item, item.source, 'image')) this.#speak(part);
        return;
      case 'opaque':
        for (const part of this.#renderer.parts([item])) this.#parts.push(part);
        return;
    }
  }

  // --- Thoughts ------------------------------------------------------------------------------------------------------

  #addThoughts(item: ReasoningItem): void {
    const { report } = this.#context;
    const texts = (item.text.length > 0 ? item.text : item.summary).filter((text) => text !== '');
    const seal = ownSealOfThoughts(item);
    const isSealed = item.signature !== undefined || item.encrypted !== undefined;
    if (isSealed && seal === undefined) this.#reportForeignSeal(item, texts.length > 0);
    if (texts.length > 0 || isSealed) reportLostMembers(item, 'items', report);
    if (texts.length > 0) {
      const parts: WirePart[] = texts.map((text) => ({ text, thought: true }));
      const last = parts.at(-1);
      if (seal !== undefined && last !== undefined) last.thoughtSignature = seal;
      for (const part of parts) this.#parts.push(part);
    } else if (seal !== undefined && !this.#sealsOfCalls.has(item.id ?? '')) {
      this.#place({ signature: seal, isOnContent: item.signature !== undefined });
    }
  }

  #reportForeignSeal(item: ReasoningItem, isVisible: boolean): void {
    const { report, request } = this.#context;
    const place = report.place(item, 'items');
    const member = request.formatFacts.seals.memberOf(item);
    if (!isVisible) report.dropped(place, FOREIGN_SEAL);
    else if (member === undefined) report.coerced(place, `${FOREIGN_SEAL}; sent without the seal`);
    else report.dropped(`${place}.${member}`, FOREIGN_SEAL);
  }

  // --- What was said ---------------------------------------------------------------------------------------------------

  #speak(part: WirePart): void {
    this.#parts.push(part);
    this.#spoken.push(part);
  }

  /** A seal follows what it came on. */
  #place(seal: LooseSeal): void {
    const last = this.#spoken.at(-1);
    if (this.#context.request.formatFacts.seals.losesOrder === true && last === undefined)
      this.#waiting.push(seal);
    else if (seal.isOnContent && last !== undefined && last.thoughtSignature === undefined) {
      last.thoughtSignature = seal.signature;
    } else {
      this.#parts.push(bare(seal.signature));
    }
  }

  /** Upstreams sign what they say last. */
  #placeWaiting(): void {
    if (this.#waiting.length === 0) return;
    const onContent = this.#waiting.filter(({ isOnContent }) => isOnContent);
    const signed = this.#spoken.slice(Math.max(this.#spoken.length - onContent.length, 0));
    for (const part of signed) part.thoughtSignature = onContent.shift()?.signature ?? '';
    const last = this.#spoken.at(-1);
    const end = last === undefined ? this.#parts.length : this.#parts.indexOf(last) + 1;
    const others = [...onContent, ...this.#waiting.filter(({ isOnContent }) => !isOnContent)];
    this.#parts.splice(end, 0, ...others.map(({ signature }) => bare(signature)));
  }

  // --- Calls -----------------------------------------------------------------------------------------------------------

  #call(item: ToolCallItem): WirePart {
    const { names, report } = this.#context;
    reportLostMembers(item, 'items', report);
    const text = flatArguments(item);
    const args = inputObject(text);
    if (args === undefined) {
      report.coerced(callInputPlace(item, report), 'no JSON object: put into a member "raw" of one');
    }
    const part: WirePart = {
      functionCall: { ...ownId(item.callId), name: names.nameOf(item), args: args ?? { raw: text } },
    };
    const signature = this.#signatureOf(item);
    if (signature !== undefined) part.thoughtSignature = signature;
    return part;
  }

  #signatureOf(item: ToolCallItem): string | undefined {
    const { report, request } = this.#context;
    const own = ownSealOfCall(item, request);
    if (item.signature !== undefined && own === undefined)
      report.dropped(callSealPlace(item, report), FOREIGN_SEAL);
    return own ?? this.#sealsOfCalls.get(item.callId);
  }

  /** Without any signature the upstream would refuse the turn. */
  #signFirstCall(): void {
    const first = this.#parts.find((part) => part.functionCall !== undefined);
    if (first !== undefined && this.#context.traits.demandsSignatures)
      first.thoughtSignature ??= NO_SIGNATURE;
  }
}

/** A signature on a part of its own, as upstreams write them at the end of a stream. */
function bare(signature: string): WirePart {
  return { ...textPart(''), thoughtSignature: signature };
}
