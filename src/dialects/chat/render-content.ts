import type {
  ImageItem,
  Item,
  MessageItem,
  OpaqueItem,
  Part,
  ReasoningItem,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { layOver } from '../../kit/json/lay-over.ts';
import { textAt } from '../../kit/json/members.ts';
import { reportPhase } from '../shared/blocks/part-losses.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import { withoutForeignFiles } from '../shared/media/foreign-files.ts';
import { pairCalls } from '../shared/pairing/pair-calls.ts';
import { takesCallSeal } from '../shared/reasoning/seals-taken.ts';
import { callInputPlace } from '../shared/report/caller-places.ts';
import { renderCacheMark } from '../shared/requests/gateway-fields.ts';
import { isOnlySettings } from '../shared/requests/system-messages.ts';
import { ADDITIONAL_TOOLS, reportToolsFromStart } from '../shared/tools/additional-tools.ts';
import { jsonArguments } from '../shared/tools/call-input.ts';
import { errorsInWords } from '../shared/tools/errors-in-words.ts';
import { type FlatNames, flatArguments } from '../shared/tools/tool-names.ts';
import { facts } from './facts.ts';
import { toolCallId } from './quirks.ts';
import { renderThoughts } from './reasoning.ts';
import { FOREIGN_SEAL, NO_CHAT_FIELD, reportForeignMembers } from './render-losses.ts';
import { contentOf, type PartsContext, renderPart, reportLostMark } from './render-parts.ts';
import { reportRenaming } from './render-tools.ts';

export interface ConversationContext extends PartsContext {
  readonly request: GenerationRequest;
  readonly names: FlatNames;
}

/** Renders the conversation: consecutive assistant items become one message. */
export function renderConversation(context: ConversationContext): JsonObject[] {
  const writer = new ConversationWriter(context);
  const { request, report } = context;
  const items = errorsInWords(pairCalls(request.items, report), report);
  for (const item of withoutForeignFiles(items, facts.request.conversation.fileStore, report)) {
    writer.add(item);
  }
  return writer.end();
}

/** The assistant's items of one turn, until they are written as one message. */
interface AssistantTurn {
  readonly thoughts: ReasoningItem[];
  readonly thoughtTexts: string[];
  readonly calls: ToolCallItem[];
  readonly images: ImageItem[];
  readonly opaque: OpaqueItem[];
  content: Part[] | undefined;
  readonly ext: JsonObject;
}

class ConversationWriter {
  readonly #context: ConversationContext;
  readonly #declared: ReadonlySet<string>;
  readonly #messages: JsonObject[] = [];
  #turn: AssistantTurn | undefined;
  /** Images and files from tool results: they follow the results in a message of their own. */
  #attachments: JsonObject[] = [];

  constructor(context: ConversationContext) {
    this.#context = context;
    this.#declared = new Set(
      context.request.tools.flatMap((tool) => (tool.type === 'hosted' ? [] : [tool.name])),
    );
  }

  add(item: Item): void {
    // Opaque items are reported when they are rendered; the entry for dropped thoughts covers their members.
    if (item.type !== 'opaque' && item.type !== 'reasoning') {
      reportForeignMembers(item, 'items', this.#context.report);
    }
    if (item.type === 'tool-result') {
      this.#endTurn();
      this.#addToolResult(item);
      return;
    }
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') this.#addSpoken(item);
        else this.#addPlain(item);
        return;
      case 'reasoning':
        this.#addThought(item);
        return;
      case 'tool-call':
        this.#openTurn().calls.push(item);
        return;
      case 'image':
        this.#addImage(item);
        return;
      case 'opaque':
        this.#addOpaque(item);
        return;
    }
  }

  end(): JsonObject[] {
    this.#endTurn();
    this.#endResults();
    return this.#messages;
  }

  // --- Turns of the model -------------------------------------------------------------------------------------------

  #openTurn(): AssistantTurn {
    this.#endResults();
    this.#turn ??= {
      thoughts: [],
      thoughtTexts: [],
      calls: [],
      images: [],
      opaque: [],
      content: undefined,
      ext: {},
    };
    return this.#turn;
  }

  /** Begins a new turn after text, unless calls are open: their results must follow at once. */
  #openFreshTurn(): AssistantTurn {
    const turn = this.#turn;
    if (turn !== undefined && turn.calls.length === 0 && (turn.content ?? turn.images).length > 0)
      this.#endTurn();
    return this.#openTurn();
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    const parts = turn.content ?? [];
    const refusals = parts.filter((part) => part.type === 'refusal');
    for (const part of refusals) reportForeignMembers(part, 'items', this.#context.report);
    const refusal = refusals.map((part) => part.refusal).join('');
    const spoken = parts.filter((part) => part.type !== 'refusal');
    const content = contentOf(this.#render(spoken), this.#context.quirks);
    const calls = turn.calls.flatMap((call) => [this.#toolCall(call)]);
    const details = [...renderThoughts(turn.thoughts), ...this.#sealsOf(turn.calls)];
    this.#messages.push({
      role: 'assistant',
      content: spoken.length === 0 && (calls.length > 0 || refusal !== '') ? null : content,
      ...(refusal !== '' && { refusal }),
      ...this.#thoughtsOf(turn),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(turn.images.length > 0 && { images: turn.images.flatMap(renderImageItem) }),
      ...joined(turn.opaque),
      ...turn.ext,
    });
  }

  #render(parts: readonly Part[]): JsonObject[] {
    return parts.flatMap((part) => renderPart(part, this.#context));
  }

  // --- Messages -----------------------------------------------------------------------------------------------------

  #addSpoken(item: MessageItem): void {
    reportPhase(item, this.#context.report, NO_CHAT_FIELD);
    const turn = this.#openFreshTurn();
    turn.content ??= [];
    for (const part of item.content) turn.content.push(part);
    if (item.ext?.chat !== undefined) layOver(turn.ext, item.ext.chat);
  }

  #addPlain(item: MessageItem): void {
    if (isOnlySettings(item)) return;
    this.#endTurn();
    this.#endResults();
    reportPhase(item, this.#context.report, NO_CHAT_FIELD);
    const { request, quirks } = this.#context;
    const isKnownRole =
      item.role !== 'developer' || (request.format === 'chat' && quirks.refusesDeveloperRole !== true);
    this.#messages.push({
      role: isKnownRole ? item.role : 'system',
      content: contentOf(this.#render(item.content), quirks),
      ...item.ext?.chat,
    });
  }

  // --- Thoughts -----------------------------------------------------------------------------------------------------

  /** Thoughts from chat upstreams go back as details. The text of thoughts goes only to providers that take it. */
  #addThought(item: ReasoningItem): void {
    const { report, request, quirks } = this.#context;
    const words = item.text.length > 0 ? item.text : item.summary;
    const isSaid = quirks.thoughtsMember !== undefined && words.length > 0;
    if (isSaid) this.#openFreshTurn().thoughtTexts.push(...words);
    const isSealed = item.signature !== undefined || item.encrypted !== undefined;
    if (facts.seals.ofThoughts(item)) {
      reportForeignMembers(item, 'items', report);
      this.#openFreshTurn().thoughts.push(item);
      return;
    }
    if (isSaid) {
      if (isSealed) report.coerced(report.place(item, 'items'), `sent as text: ${FOREIGN_SEAL}`);
      return;
    }
    const isEmpty = !isSealed && item.text.length + item.summary.length === 0;
    // An empty item from a chat caller had details of an unknown kind, which are lost.
    if (isEmpty && request.format !== 'chat') return;
    report.dropped(
      report.place(item, 'items'),
      isSealed ? FOREIGN_SEAL : 'chat upstreams take no reasoning text',
    );
  }

  /**
   * The member with the text of thoughts. Providers that have it require it in messages with tool calls, even empty.
   */
  #thoughtsOf({ thoughtTexts, calls }: AssistantTurn): JsonObject {
    const { thoughtsMember } = this.#context.quirks;
    if (thoughtsMember === undefined || thoughtTexts.length + calls.length === 0) return {};
    return { [thoughtsMember]: thoughtTexts.join('\n') };
  }

  // --- Calls --------------------------------------------------------------------------------------------------------

  #toolCall(call: ToolCallItem): JsonObject {
    const { report, names, quirks } = this.#context;
    reportLostMark(call, call.cache, report);
    if (!this.#declared.has(call.name))
      reportRenaming(call, report.place(call, 'items', 'name'), names, report);
    return {
      id: toolCallId(call.callId, quirks),
      type: 'function',
      function: { name: names.nameOf(call), arguments: this.#argumentsOf(call) },
      ...call.ext?.chat,
    };
  }

  #argumentsOf(call: ToolCallItem): string {
    const { report } = this.#context;
    return jsonArguments(flatArguments(call), (detail) => {
      report.coerced(callInputPlace(call, report), detail);
    });
  }

  #sealsOf(calls: readonly ToolCallItem[]): JsonObject[] {
    const { report, request } = this.#context;
    return calls.flatMap((call) => {
      const { callId: id, signature: data, signatureFormat: format } = call;
      if (data === undefined) return [];
      if (takesCallSeal(facts.seals, call, request)) {
        return [{ type: 'reasoning.encrypted', data, id, ...(format !== undefined && { format }) }];
      }
      report.dropped(report.place(call, 'items', 'signature'), FOREIGN_SEAL);
      return [];
    });
  }

  // --- Results of calls ---------------------------------------------------------------------------------------------

  #addToolResult(item: ToolResultItem): void {
    const { report, quirks } = this.#context;
    const id = toolCallId(item.callId, quirks);
    const rendered = this.#render(item.content);
    const texts = rendered.filter(isWords);
    this.#messages.push({
      role: 'tool',
      tool_call_id: id,
      content: contentOf(this.#marked(texts, item), quirks),
      ...item.ext?.chat,
    });
    const attachments = rendered.filter((part) => !isWords(part));
    if (attachments.length === 0) return;
    report.coerced(
      report.place(item, 'items'),
      'tool messages hold text only: its other content follows in a user message',
    );
    this.#attachments.push({ type: 'text', text: `Output of tool call ${id}:` });
    for (const attachment of attachments) this.#attachments.push(attachment);
  }

  /** Puts the mark of a tool result on its last text. */
  #marked(texts: readonly JsonObject[], item: ToolResultItem): readonly JsonObject[] {
    const { report, takesCacheMarks } = this.#context;
    const last = texts.findLastIndex(({ type }) => type === 'text');
    if (item.cache === undefined || last === -1 || !takesCacheMarks) {
      reportLostMark(item, item.cache, report);
      return texts;
    }
    return texts.with(last, { ...texts[last], cache_control: renderCacheMark(item.cache) });
  }

  #endResults(): void {
    if (this.#attachments.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#attachments });
    this.#attachments = [];
  }

  // --- Images -------------------------------------------------------------------------------------------------------

  #addImage(item: ImageItem): void {
    const { report } = this.#context;
    if (renderUrl(item.source) !== undefined) this.#openTurn().images.push(item);
    else report.dropped(report.place(item, 'items'), 'images by file id cannot be sent to a chat upstream');
  }

  // --- Other items --------------------------------------------------------------------------------------------------

  #addOpaque(item: OpaqueItem): void {
    if (item.dialect === 'chat') {
      this.#openTurn().opaque.push(item);
      return;
    }
    const { report } = this.#context;
    const kind = textAt(item.value, 'type') ?? 'this kind of item';
    if (kind === ADDITIONAL_TOOLS) reportToolsFromStart(item, report);
    else report.dropped(report.place(item, 'items'), `chat upstreams do not know ${kind}`);
  }
}

function isWords(part: JsonObject): boolean {
  return part.type === 'text' || part.type === 'refusal';
}

function joined(items: readonly OpaqueItem[]): JsonObject {
  const members: JsonObject = {};
  for (const { value } of items) layOver(members, value);
  return members;
}

function renderImageItem(item: ImageItem): JsonObject[] {
  const url = renderUrl(item.source);
  return url === undefined ? [] : [{ type: 'image_url', image_url: { url }, ...item.ext?.chat }];
}
