import { conversationForm } from '../../ir/format-facts.ts';
import type {
  Item,
  MessageItem,
  OpaqueItem,
  Part,
  ReasoningItem,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { reportPhase } from '../shared/blocks/part-losses.ts';
import { labelOfResult, NO_RESULT, WITHOUT_CALL, WITHOUT_RESULT } from '../shared/pairing/pair-calls.ts';
import { callSealPlace } from '../shared/report/caller-places.ts';
import { NO_FIELD } from '../shared/report/field-fates.ts';
import {
  isSystem,
  LAST_SYSTEM_AS_USER,
  SYSTEM_BETWEEN_TURNS,
  splitSystemPrompts,
} from '../shared/requests/system-messages.ts';
import { ADDITIONAL_TOOLS, reportToolsFromStart } from '../shared/tools/additional-tools.ts';
import { objectInput } from '../shared/tools/call-input.ts';
import { ownId } from './ids.ts';
import { ownSealOfCall, ownSealOfThoughts } from './reasoning.ts';
import type { RenderContext } from './render-context.ts';
import { FOREIGN_SEAL, reportForeignMembers } from './render-losses.ts';
import { PartRenderer } from './render-parts.ts';
import { NO_SIGNATURE, textPart, type WireContent, type WirePart, type WireRole } from './wire.ts';

export interface RenderedConversation {
  readonly system: WirePart[];
  readonly contents: WireContent[];
}

/** System prompts at the front become the system instruction; everything else becomes turns. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { items } = context.request;
  const { prompts, asUser, turns: rest } = splitSystemPrompts(items);
  const turns = new Turns(context);
  const system: WirePart[] = [];
  for (const prompt of prompts) {
    for (const part of turns.systemParts(prompt)) system.push(part);
  }
  if (asUser !== undefined) turns.addPromptAsUser(asUser);
  for (const item of rest) turns.add(item);
  return { system, contents: turns.end() };
}

/** First turn of a conversation that would begin with the model: upstreams refuse those. */
const OPENING = '(The assistant speaks first.)';

/** Collects items into turns of alternating roles; tool results are a turn of their own after their calls. */
class Turns {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  readonly #results: Results;
  readonly #contents: WireContent[] = [];
  #said: ModelItem[] = [];
  #hasCalled = false;
  /** True if the user may add to the last turn. */
  #isOpen = false;

  constructor(context: RenderContext) {
    this.#context = context;
    this.#renderer = new PartRenderer(context);
    this.#results = new Results(context.request.items, context, this.#renderer);
  }

  add(item: Item): void {
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') this.#said.push(item);
        else this.#ask(this.#heard(item));
        return;
      case 'tool-result':
        if (this.#hasCalled) this.#endModelTurn();
        this.#ask(this.#results.leftOver(item));
        return;
      case 'opaque':
        this.#addOpaque(item);
        return;
      default:
        this.#said.push(item);
        this.#hasCalled ||= item.type === 'tool-call';
    }
  }

  systemParts(prompt: MessageItem): WirePart[] {
    this.#reportMembers(prompt);
    return this.#renderer.texts(prompt.content);
  }

  /** A conversation of system prompts alone needs a turn: the last one is sent as the user's. */
  addPromptAsUser(prompt: MessageItem): void {
    const { report } = this.#context;
    const parts = this.systemParts(prompt);
    if (parts.length > 0) {
      report.coerced(report.place(prompt, 'items'), LAST_SYSTEM_AS_USER);
    }
    this.#ask(parts);
  }

  end(): WireContent[] {
    this.#endModelTurn();
    const { report, request } = this.#context;
    const [first] = this.#contents;
    if (first?.role !== 'model') return this.#contents;
    const opener = request.items.find((item) => !isSystem(item)) ?? {};
    report.coerced(
      report.place(opener, 'items'),
      'the upstream wants the user to begin: a note was put first',
    );
    return [{ role: 'user', parts: [textPart(OPENING)] }, ...this.#contents];
  }

  #heard(item: MessageItem): WirePart[] {
    if (item.role === 'user') {
      this.#reportMembers(item);
      return this.#renderer.parts(item.content);
    }
    const parts = this.systemParts(item);
    if (parts.length === 0) return [];
    const { report } = this.#context;
    report.coerced(report.place(item, 'items'), SYSTEM_BETWEEN_TURNS);
    return [textPart('<system>'), ...parts, textPart('</system>')];
  }

  #reportMembers(item: MessageItem): void {
    const { report } = this.#context;
    reportForeignMembers(item, 'items', report);
    reportPhase(item, report, NO_FIELD);
  }

  #ask(parts: readonly WirePart[]): void {
    if (parts.length === 0) return;
    this.#endModelTurn();
    const last = this.#contents.at(-1);
    if (this.#isOpen && last?.role === 'user') for (const part of parts) last.parts.push(part);
    else this.#contents.push({ role: 'user', parts: [...parts] });
    this.#isOpen = true;
  }

  #endModelTurn(): void {
    const said = this.#said;
    if (said.length === 0) return;
    this.#said = [];
    this.#hasCalled = false;
    this.#push('model', new ModelTurn(this.#context, this.#renderer).render(said));
    const calls = said.filter((item): item is ToolCallItem => item.type === 'tool-call');
    const { responses, attachments } = this.#results.answer(calls);
    this.#push('user', responses);
    this.#ask(attachments);
  }

  /** Adds a closed turn. */
  #push(role: WireRole, parts: WirePart[]): void {
    if (parts.length === 0) return;
    this.#contents.push({ role, parts });
    this.#isOpen = false;
  }

  #addOpaque(item: OpaqueItem): void {
    const { report } = this.#context;
    if (item.dialect === 'gemini') {
      if (item.role === 'user') this.#ask([item.value as WirePart]);
      else this.#said.push(item);
      return;
    }
    const kind = stringAt(item.value, 'type') ?? 'such items';
    if (kind === ADDITIONAL_TOOLS) reportToolsFromStart(item, report);
    else report.dropped(report.place(item, 'items'), `the upstream does not know ${kind}`);
  }
}

// --- Turns of the model ---------------------------------------------------------------------------------------------

export type ModelItem = Exclude<Item, { type: 'tool-result' }>;

/** A seal that belongs to the part of another item. */
interface LooseSeal {
  readonly signature: string;
  /** True if it came on a part with content, not on one of its own. */
  readonly isOnContent: boolean;
}

/**
 * Makes the parts of one model turn. Signatures go back to the parts that they came on: those of calls by call id,
 * those of thoughts with the thoughts, others by position.
 */
export class ModelTurn {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  readonly #parts: WirePart[] = [];
  /** Seals of calls that came as separate thoughts, by call id. */
  readonly #sealsOfCalls = new Map<string, string>();
  /** Parts with text or images. */
  readonly #spoken: WirePart[] = [];
  /** Chat callers may send all thoughts first: their seals wait for the content. */
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
        reportForeignMembers(item, 'items', report);
        reportPhase(item, report, NO_FIELD);
        for (const part of this.#renderer.parts(item.content)) this.#speak(part);
        return;
      case 'reasoning':
        this.#addThoughts(item);
        return;
      case 'tool-call':
        this.#parts.push(this.#call(item));
        return;
      case 'image':
        reportForeignMembers(item, 'items', report);
        for (const part of this.#renderer.source(item, item.source, 'image')) this.#speak(part);
        return;
      case 'opaque':
        for (const part of this.#renderer.parts([item])) this.#parts.push(part);
        return;
    }
  }

  // --- Messages -----------------------------------------------------------------------------------------------------

  #speak(part: WirePart): void {
    this.#parts.push(part);
    this.#spoken.push(part);
  }

  // --- Thoughts -----------------------------------------------------------------------------------------------------

  #addThoughts(item: ReasoningItem): void {
    const { report } = this.#context;
    const texts = (item.text.length > 0 ? item.text : item.summary).filter((text) => text !== '');
    const seal = ownSealOfThoughts(item);
    const isSealed = item.signature !== undefined || item.encrypted !== undefined;
    if (isSealed && seal === undefined) this.#reportForeignSeal(item, texts.length > 0);
    if (texts.length > 0 || isSealed) reportForeignMembers(item, 'items', report);
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
    const member = conversationForm(request.formatFacts).seals.memberOf(item);
    if (!isVisible) report.dropped(place, FOREIGN_SEAL);
    else if (member === undefined) report.coerced(place, `${FOREIGN_SEAL}; sent without the seal`);
    else report.dropped(`${place}.${member}`, FOREIGN_SEAL);
  }

  /**
   * Puts a seal on the last part, if it came on content, else on a part of its own. If the format loses the order, a
   * seal before all content waits.
   */
  #place(seal: LooseSeal): void {
    const last = this.#spoken.at(-1);
    if (conversationForm(this.#context.request.formatFacts).seals.losesOrder === true && last === undefined)
      this.#waiting.push(seal);
    else if (seal.isOnContent && last !== undefined && last.thoughtSignature === undefined) {
      last.thoughtSignature = seal.signature;
    } else {
      this.#parts.push(bare(seal.signature));
    }
  }

  /** Puts the waiting seals on the last parts with content: upstreams sign the last part of a turn. */
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

  // --- Calls --------------------------------------------------------------------------------------------------------

  #call(item: ToolCallItem): WirePart {
    const { names, report, request } = this.#context;
    reportForeignMembers(item, 'items', report);
    const args = objectInput(item, report, request.exactNumbers);
    const part: WirePart = { functionCall: { ...ownId(item.callId), name: names.nameOf(item), args } };
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

/** A signature on a part of its own, as upstreams send it at the end of a stream. */
function bare(signature: string): WirePart {
  return { ...textPart(''), thoughtSignature: signature };
}

// --- Results of calls -----------------------------------------------------------------------------------------------

export interface RenderedResults {
  /** One `functionResponse` for each call, in the order of the calls, by which upstreams pair them. */
  readonly responses: WirePart[];
  /** Content that a response cannot hold: the user sends it right after. */
  readonly attachments: WirePart[];
}

/** Results of calls with one id, and how many of them were used. */
interface Queue {
  readonly items: ToolResultItem[];
  next: number;
}

/** Assigns results to calls, each once; results without a call are left over. */
export class Results {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  /** Queues by the id of the call. */
  readonly #queues = new Map<string, Queue>();
  readonly #given = new Set<ToolResultItem>();

  constructor(items: readonly Item[], context: RenderContext, renderer: PartRenderer) {
    this.#context = context;
    this.#renderer = renderer;
    for (const item of items) {
      if (item.type !== 'tool-result') continue;
      const same = this.#queues.get(item.callId);
      if (same === undefined) this.#queues.set(item.callId, { items: [item], next: 0 });
      else same.items.push(item);
    }
  }

  /** The results of the calls of a turn. Upstreams refuse a turn with unanswered calls. */
  answer(calls: readonly ToolCallItem[]): RenderedResults {
    const rendered: RenderedResults = { responses: [], attachments: [] };
    for (const call of calls) {
      const result = this.#take(call.callId);
      if (result === undefined) rendered.responses.push(this.#missing(call));
      else this.#add(result, call, rendered);
    }
    return rendered;
  }

  /** A result without a call, as user text; none if it was used. */
  leftOver(item: ToolResultItem): WirePart[] {
    if (this.#given.has(item)) return [];
    this.#given.add(item);
    const { report } = this.#context;
    reportForeignMembers(item, 'items', report);
    report.coerced(report.place(item, 'items'), WITHOUT_CALL);
    return [
      textPart(labelOfResult(item.callId, item.isError === true)),
      ...this.#renderer.parts(item.content),
    ];
  }

  #take(callId: string): ToolResultItem | undefined {
    const queue = this.#queues.get(callId);
    while (queue !== undefined && queue.next < queue.items.length) {
      const item = queue.items[queue.next++];
      if (item === undefined || this.#given.has(item)) continue;
      this.#given.add(item);
      return item;
    }
    return undefined;
  }

  #missing(call: ToolCallItem): WirePart {
    const { report, names } = this.#context;
    report.coerced(report.place(call, 'items'), WITHOUT_RESULT);
    return {
      functionResponse: { ...ownId(call.callId), name: names.nameOf(call), response: { error: NO_RESULT } },
    };
  }

  #add(item: ToolResultItem, call: ToolCallItem, { responses, attachments }: RenderedResults): void {
    const { names, report, traits } = this.#context;
    reportForeignMembers(item, 'items', report);
    const said = this.#renderer.parts(item.content.filter(isWords));
    const words = said.flatMap(({ text }) => text ?? []);
    const media = this.#renderer.parts(item.content.filter((part) => !isWords(part)));
    const isNested = (part: WirePart) => traits.takesMediaInResults && isJsonObject(part.inlineData);
    const nested = media.filter(isNested);
    const outside = media.filter((part) => !isNested(part));
    responses.push({
      functionResponse: {
        ...ownId(call.callId),
        name: names.nameOf(call),
        response: { [item.isError === true ? 'error' : 'output']: words.join('\n') },
        ...(nested.length > 0 && { parts: nested }),
      },
    });
    if (outside.length === 0) return;
    report.coerced(
      report.place(item, 'items'),
      'the result holds content that the upstream takes only from users: it follows in a user turn',
    );
    for (const part of [textPart(labelOfResult(item.callId, item.isError === true)), ...outside])
      attachments.push(part);
  }
}

/** Parts of other dialects become text, or nothing. */
function isWords(part: Part): boolean {
  if (part.type === 'opaque') return part.dialect !== 'gemini';
  return part.type === 'text' || part.type === 'refusal';
}
