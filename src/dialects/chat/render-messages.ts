import type {
  CacheMark,
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
import type { JsonObject } from '../../kit/json.ts';
import { familyOf } from '../custody.ts';
import { renderCacheMark } from '../gateway-fields.ts';
import type { Report } from '../report.ts';
import { flatArguments, flatToolName } from '../tool-names.ts';
import { indexesOf, renderReasoningDetails } from './reasoning-details.ts';
import { renderUrl } from './source.ts';

/** What rendering a conversation needs to know besides its items. */
export interface MessagesContext {
  readonly request: GenerationRequest;
  readonly report: Report;
  /** The upstream takes `cache_control` on text parts. */
  readonly takesCacheMarks: boolean;
}

/** The conversation as the upstream takes it: assistant items that follow each other become one message. */
export function renderMessages(context: MessagesContext): JsonObject[] {
  const writer = new MessagesWriter(context);
  context.request.items.forEach((item, position) => {
    writer.add(item, position);
  });
  return writer.end();
}

/** What the assistant said in one turn, until it is written as one message. */
interface AssistantTurn {
  readonly thoughts: ReasoningItem[];
  readonly calls: ToolCallItem[];
  readonly images: ImageItem[];
  readonly opaque: OpaqueItem[];
  content: Part[] | undefined;
  ext: JsonObject;
}

class MessagesWriter {
  readonly #context: MessagesContext;
  readonly #messages: JsonObject[] = [];
  #turn: AssistantTurn | undefined;
  /** Images and files out of tool results: they follow the results in a message of their own. */
  #attachments: JsonObject[] = [];

  constructor(context: MessagesContext) {
    this.#context = context;
  }

  add(item: Item, position: number): void {
    if (item.type === 'tool-result') {
      this.#endTurn();
      this.#addToolResult(item, position);
      return;
    }
    this.#endResults();
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') this.#addSpoken(item);
        else this.#addPlain(item);
        return;
      case 'reasoning':
        this.#addThought(item, position);
        return;
      case 'tool-call':
        this.#openTurn().calls.push(item);
        return;
      case 'image':
        this.#openTurn().images.push(item);
        return;
      case 'opaque':
        this.#addOpaque(item, position);
        return;
    }
  }

  end(): JsonObject[] {
    this.#endTurn();
    this.#endResults();
    return this.#messages;
  }

  // --- Assistant turns -----------------------------------------------------------------------------------------------

  #openTurn(): AssistantTurn {
    this.#turn ??= { thoughts: [], calls: [], images: [], opaque: [], content: undefined, ext: {} };
    return this.#turn;
  }

  /** After spoken words something new begins, unless calls are open: their results must follow at once. */
  #openFreshTurn(): AssistantTurn {
    const turn = this.#turn;
    if (turn !== undefined && turn.calls.length === 0 && (turn.content ?? turn.images).length > 0)
      this.#endTurn();
    return this.#openTurn();
  }

  #addSpoken(item: MessageItem): void {
    const turn = this.#openFreshTurn();
    turn.content = [...(turn.content ?? []), ...item.content];
    turn.ext = { ...turn.ext, ...item.ext?.chat };
  }

  /** Thoughts go back to chat upstreams only as the sealed details that one of them wrote. */
  #addThought(item: ReasoningItem, position: number): void {
    const { report, request } = this.#context;
    const isChatSeal =
      item.format === undefined ? request.format === 'chat' : familyOf(item.format) === 'unknown';
    if (isChatSeal && isSealed(item)) {
      this.#openFreshTurn().thoughts.push(item);
      return;
    }
    const place = report.name('items', `[${position}]`);
    report.dropped(
      place,
      isSealed(item)
        ? 'reasoning of another model family cannot be sent to a chat upstream'
        : 'chat upstreams take no reasoning text',
    );
  }

  #addOpaque(item: OpaqueItem, position: number): void {
    if (item.dialect === 'chat') this.#openTurn().opaque.push(item);
    else {
      const { report } = this.#context;
      const kind = typeof item.value.type === 'string' ? item.value.type : 'this kind of item';
      report.dropped(report.name('items', `[${position}]`), `chat upstreams do not know ${kind}`);
    }
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    const parts = turn.content ?? [];
    const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : [])).join('');
    const spoken = parts.filter((part) => part.type !== 'refusal');
    const content = this.#content(spoken);
    const calls = turn.calls.map((call) => this.#toolCall(call));
    const details = [...detailsOf(turn.thoughts), ...this.#sealsOf(turn.calls)];
    this.#messages.push({
      role: 'assistant',
      content: spoken.length === 0 && (calls.length > 0 || refusal !== '') ? null : content,
      ...(refusal !== '' && { refusal }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(turn.images.length > 0 && { images: turn.images.flatMap(renderImageItem) }),
      ...Object.assign({}, ...turn.opaque.map(({ value }) => value)),
      ...turn.ext,
    });
  }

  /** Seals of calls, each named by its call. Only chat callers can have got them from a chat upstream. */
  #sealsOf(calls: readonly ToolCallItem[]): JsonObject[] {
    const { report, request } = this.#context;
    return calls.flatMap(({ callId, signature }) => {
      if (signature === undefined) return [];
      if (request.format === 'chat') return [{ type: 'reasoning.encrypted', data: signature, id: callId }];
      report.dropped(report.name('items'), `the seal of tool call ${callId} belongs to another model family`);
      return [];
    });
  }

  #toolCall(call: ToolCallItem): JsonObject {
    this.#dropMark(call.cache);
    return {
      id: call.callId,
      type: 'function',
      function: { name: flatToolName(call.name, call.namespace), arguments: flatArguments(call) },
      ...call.ext?.chat,
    };
  }

  // --- Other messages --------------------------------------------------------------------------------------------------

  #addPlain(item: MessageItem): void {
    this.#endTurn();
    const isForeignDeveloper = item.role === 'developer' && this.#context.request.format !== 'chat';
    this.#messages.push({
      role: isForeignDeveloper ? 'system' : item.role,
      content: this.#content(item.content),
      ...item.ext?.chat,
    });
  }

  #addToolResult(item: ToolResultItem, position: number): void {
    const { report } = this.#context;
    const place = report.name('items', `[${position}]`);
    const texts = item.content.filter((part) => part.type === 'text' || part.type === 'refusal');
    const others = item.content.filter((part) => part.type !== 'text' && part.type !== 'refusal');
    if (item.isError === true) report.dropped(`${place}.is_error`, 'tool messages have no error flag');
    const marked = item.cache === undefined ? texts : withMarkOnLast(texts, item.cache);
    this.#messages.push({
      role: 'tool',
      tool_call_id: item.callId,
      content: this.#content(marked),
      ...item.ext?.chat,
    });
    const attachments = others.flatMap((part) => this.#part(part, place));
    if (attachments.length === 0) return;
    report.coerced(place, 'tool messages hold text only: the rest follows in a user message');
    this.#attachments.push({ type: 'text', text: `Output of tool call ${item.callId}:` }, ...attachments);
  }

  #endResults(): void {
    if (this.#attachments.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#attachments });
    this.#attachments = [];
  }

  // --- Content parts -------------------------------------------------------------------------------------------------

  #content(parts: readonly Part[]): string | JsonObject[] {
    const rendered = parts.flatMap((part) => this.#part(part, this.#context.report.name('items')));
    const only = rendered.length === 1 ? rendered[0] : undefined;
    if (rendered.length === 0) return '';
    const isPlain = only?.type === 'text' && Object.keys(only).length === 2;
    return isPlain && typeof only.text === 'string' ? only.text : rendered;
  }

  #part(part: Part, place: string): JsonObject[] {
    const { report } = this.#context;
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...this.#cacheMark(part.cache), ...part.ext?.chat }];
      case 'refusal':
        return [{ type: 'refusal', refusal: part.refusal, ...part.ext?.chat }];
      case 'image': {
        this.#dropMark(part.cache);
        const url = renderUrl(part.source);
        if (url === undefined) {
          report.dropped(place, 'images by file id cannot be sent to a chat upstream');
          return [];
        }
        const detail = part.detail === undefined ? {} : { detail: part.detail };
        return [{ type: 'image_url', image_url: { url, ...detail }, ...part.ext?.chat }];
      }
      case 'file':
        this.#dropMark(part.cache);
        return [this.#filePart(part, place)];
      case 'audio':
        return [
          {
            type: 'input_audio',
            input_audio: { data: part.data, format: part.format },
            ...part.ext?.chat,
          },
        ];
      case 'video':
        return [{ type: 'video_url', video_url: { url: part.url }, ...part.ext?.chat }];
      case 'opaque':
        if (part.dialect === 'chat') return [part.value];
        report.dropped(place, `chat upstreams do not know ${String(part.value.type ?? 'this kind of part')}`);
        return [];
    }
  }

  #filePart(part: Extract<Part, { type: 'file' }>, place: string): JsonObject {
    const { source } = part;
    const name = part.filename === undefined ? {} : { filename: part.filename };
    switch (source.kind) {
      case 'file-id':
        return { type: 'file', file: { ...name, file_id: source.fileId }, ...part.ext?.chat };
      case 'text':
        return { type: 'text', text: source.text, ...part.ext?.chat };
      case 'url':
        this.#context.report.coerced(place, 'the address of a file is sent as file_data');
        return { type: 'file', file: { ...name, file_data: source.url }, ...part.ext?.chat };
      case 'base64':
        return {
          type: 'file',
          file: { filename: part.filename ?? 'document.pdf', file_data: renderUrl(source) },
          ...part.ext?.chat,
        };
    }
  }

  /** A mark as the upstream takes it: on text only, if at all. */
  #cacheMark(mark: CacheMark | undefined): { cache_control?: JsonObject } {
    if (mark === undefined) return {};
    if (this.#context.takesCacheMarks) return { cache_control: renderCacheMark(mark) };
    reportCacheMarks(this.#context.report);
    return {};
  }

  #dropMark(mark: CacheMark | undefined): void {
    if (mark !== undefined) reportCacheMarks(this.#context.report);
  }
}

/** One entry for all the marks of a request. */
export function reportCacheMarks(report: Report): void {
  const field = report.name('cache');
  if (report.entries.some((entry) => entry.field === field)) return;
  report.dropped(field, 'the upstream takes no cache marks here');
}

// --- Thoughts and images -----------------------------------------------------------------------------------------------

function isSealed(item: ReasoningItem): boolean {
  return item.signature !== undefined || item.encrypted !== undefined;
}

function detailsOf(thoughts: readonly ReasoningItem[]): JsonObject[] {
  let index = 0;
  return thoughts.flatMap((item) => {
    const details = renderReasoningDetails(item, index);
    index += indexesOf(item);
    return details;
  });
}

function renderImageItem(item: ImageItem): JsonObject[] {
  const url = renderUrl(item.source);
  return url === undefined ? [] : [{ type: 'image_url', image_url: { url }, ...item.ext?.chat }];
}

function withMarkOnLast(parts: readonly Part[], mark: CacheMark): Part[] {
  const last = parts.at(-1);
  return last?.type === 'text' ? [...parts.slice(0, -1), { ...last, cache: mark }] : [...parts];
}
