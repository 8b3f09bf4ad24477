import type { Item, MessageItem, OpaqueItem, ToolCallItem } from '../../ir/items.ts';
import { objectsAt, stringAt } from '../../kit/json/members.ts';
import { isSystem, LAST_SYSTEM_AS_USER, SYSTEM_BETWEEN_TURNS } from '../shared/requests/system-messages.ts';
import { type ModelItem, ModelTurn } from './model-turn.ts';
import type { RenderContext } from './render-context.ts';
import { NO_FIELD, reportLostMembers } from './render-losses.ts';
import { PartRenderer } from './render-parts.ts';
import { Results } from './render-results.ts';
import { textPart, type WireContent, type WirePart, type WireRole } from './wire.ts';

/** The conversation as an upstream of this dialect takes it. */
export interface RenderedConversation {
  /** Parts of the system instruction. */
  readonly system: WirePart[];
  readonly contents: WireContent[];
}

/** System prompts at the front become the system instruction; everything else becomes turns. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { items } = context.request;
  const firstTurn = items.findIndex((item) => !isSystem(item));
  const lead = (firstTurn === -1 ? items : items.slice(0, firstTurn)).filter(isSystem);
  const turns = new Turns(context);
  const last = firstTurn === -1 ? lead.pop() : undefined;
  const system: WirePart[] = [];
  for (const prompt of lead) {
    for (const part of turns.systemParts(prompt)) system.push(part);
  }
  if (last !== undefined) turns.addPromptAsUser(last);
  for (const item of firstTurn === -1 ? [] : items.slice(firstTurn)) {
    turns.add(item);
  }
  return { system, contents: turns.end() };
}

/** What begins a conversation that the model would begin: upstreams take none of that kind. */
const OPENING = '(The assistant speaks first.)';

/** Collects items into turns of alternating roles; the results of tools are a turn of their own after their calls. */
class Turns {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  readonly #results: Results;
  readonly #contents: WireContent[] = [];
  /** What the model said in the turn that is being collected. */
  #said: ModelItem[] = [];
  #hasCalled = false;
  /** The user may add to the last turn. */
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

  /** A conversation of system prompts alone needs a turn: the last of them speaks as the user. */
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
    reportLostMembers(item, 'items', report);
    if (item.phase !== undefined) report.dropped(report.place(item, 'items', 'phase'), NO_FIELD);
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

  /** Adds a turn that nothing is added to by others. */
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
    if (kind === ADDITIONAL_TOOLS) this.#reportAdditionalTools(item);
    else report.dropped(report.place(item, 'items'), `the upstream does not know ${kind}`);
  }

  /** The tools of such an item are among the request's own; those that another provider runs are lost. */
  #reportAdditionalTools(item: OpaqueItem): void {
    const { report } = this.#context;
    const place = report.place(item, 'items');
    const isCallable = objectsAt(item.value, 'tools').map(({ type }) => CALLABLE.has(type));
    for (const [position, callable] of isCallable.entries()) {
      if (!callable) report.dropped(`${place}.tools[${position}]`, 'the upstream cannot run it');
    }
    if (isCallable.includes(true)) {
      report.coerced(place, 'its tools are offered from the start of the conversation');
    }
  }
}

/** The item of the responses format that declares tools in the middle of a conversation. */
const ADDITIONAL_TOOLS = 'additional_tools';

/** Types of tools that the caller runs. */
const CALLABLE: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace']);
