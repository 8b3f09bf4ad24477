import type { Event, Finish, PartKind } from '../../ir/events.ts';
import type {
  Annotation,
  Ext,
  ItemStatus,
  Logprobs,
  MessageItem,
  OutputItem,
  Part,
  ReasoningItem,
  ServerCallItem,
  ToolCallItem,
  ToolKind,
} from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { writeSseFrame } from '../../kit/frames/sse.ts';
import { type ExactNumbers, stringifyExactly } from '../../kit/json/exact-numbers.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectsAt, stringAt } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { familyOf, wrapSeal } from '../shared/reasoning/custody.ts';
import { ADDITIONAL_TOOLS, withCallableTools } from '../shared/tools/additional-tools.ts';
import { inputObject } from '../shared/tools/call-input.ts';
import { NO_ARGUMENTS } from '../shared/tools/tool-names.ts';

import { renderAnnotation } from './citations.ts';
import { renderShellCall, shellCalled } from './local-shells.ts';
import { imageFields } from './render-content.ts';
import { type HostedItem, hostedItemOf, INPUT_CHANNELS, TEXT_CHANNELS, type TextChannel } from './wire.ts';
import { KEPT_CALL, showsCall } from './wire-content.ts';

/** Output items for callers. */

// --- Items ----------------------------------------------------------------------------------------------------------

/** Writes an item under its id; undefined for kinds that this format does not have. */
export function renderOutputItem(
  item: OutputItem,
  id: string,
  status: ItemStatus,
  { request, vendor }: Pick<ReplyContext, 'request' | 'vendor'>,
): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return renderMessage(item, id, status);
    case 'reasoning':
      return renderReasoning(shownReasoning(item, request), id, status);
    case 'tool-call': {
      const shell = shellCalled(item, request.tools);
      if (shell === undefined) return renderToolCall(item, id, status);
      return compact({ ...renderShellCall(shell, item, id, status), signature: callSeal(item) });
    }
    case 'image':
      return compact({
        id,
        ...imageFields(item.source),
        status: imageStatus(status),
        ...item.ext?.responses,
      });
    case 'opaque':
      return item.dialect === 'responses' ? { ...shownOpaque(item.value), id } : undefined;
    case 'server-call':
      return renderServerCall(status === 'in_progress' ? item : endedCall(item), id, vendor);
    case 'tool-result':
      return undefined;
  }
}

/** A call whose item is over: without a result it has failed. */
export function endedCall(item: ServerCallItem): ServerCallItem {
  return item.status === 'in_progress' ? { ...item, status: 'failed' } : item;
}

/** Tools in an item that callers send back are taken for their own. */
function shownOpaque(value: JsonObject): JsonObject {
  return value.type === ADDITIONAL_TOOLS ? withCallableTools(value) : value;
}

// --- Messages -------------------------------------------------------------------------------------------------------

function renderMessage(item: MessageItem, id: string, status: ItemStatus): JsonObject {
  return compact({
    id,
    type: 'message',
    role: 'assistant',
    status,
    phase: item.phase,
    content: item.content.flatMap(renderOutputPart),
    ...item.ext?.responses,
  });
}

/** Writes one part; none for kinds that this format does not have. */
export function renderOutputPart(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [
        {
          type: TEXT_CHANNELS.text.partType,
          text: part.text,
          annotations: (part.annotations ?? []).flatMap((annotation) =>
            renderAnnotation(annotation, part.text),
          ),
          logprobs: [...(part.logprobs ?? [])],
          ...part.ext?.responses,
        },
      ];
    case 'refusal':
      return [{ type: TEXT_CHANNELS.refusal.partType, refusal: part.refusal, ...part.ext?.responses }];
    case 'opaque':
      return part.dialect === 'responses' ? [part.value] : [];
    default:
      return [];
  }
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

/** Reasoning in the form that the caller asked for: hidden, or with raw thoughts copied into the requested summary. */
function shownReasoning(item: ReasoningItem, request: GenerationRequest): ReasoningItem {
  if (request.reasoning?.exclude === true) return { ...item, text: [], summary: [] };
  const mirrors = request.reasoning?.summary !== undefined && item.summary.length === 0;
  return mirrors ? { ...item, summary: item.text } : item;
}

function renderReasoning(item: ReasoningItem, id: string, status: ItemStatus): JsonObject {
  return compact({
    id,
    type: 'reasoning',
    summary: item.summary.map((text) => ({ type: TEXT_CHANNELS.summary.partType, text })),
    content:
      item.text.length > 0
        ? item.text.map((text) => ({ type: TEXT_CHANNELS.thought.partType, text }))
        : undefined,
    ...sealFields(item),
    status,
    ...item.ext?.responses,
  });
}

/**
 * The seal of a reasoning item. Most clients replay only `encrypted_content`, so seals from other dialects go there
 * too, wrapped with the members that they need on their way back.
 */
function sealFields(item: ReasoningItem): JsonObject {
  const { signature, encrypted, format, givenBy } = item;
  if (signature === undefined && encrypted === undefined && givenBy === undefined) return {};
  const isOwn = encrypted !== undefined && familyOf(format) === 'openai' && givenBy === undefined;
  return { signature, encrypted_content: isOwn ? encrypted : wrapSeal(item), format };
}

// --- Calls ----------------------------------------------------------------------------------------------------------

/** The seal of a call, wrapped if it must find its way back to its upstream. */
function callSeal({ signature, signatureFormat: format, signatureGivenBy: givenBy }: ToolCallItem) {
  if (signature === undefined || givenBy === undefined) return signature;
  return wrapSeal({ signature, format, givenBy });
}

function renderToolCall(item: ToolCallItem, id: string, status: ItemStatus): JsonObject {
  const { type, field } = INPUT_CHANNELS[item.kind];
  return compact({
    id,
    type,
    call_id: item.callId,
    name: item.name,
    namespace: item.namespace,
    [field]: item.input,
    signature: callSeal(item),
    status,
    ...item.ext?.responses,
  });
}

/** A call without a result shows its arguments, so that it can be sent back. */
function renderServerCall(item: ServerCallItem, id: string, vendor: string): JsonObject {
  const { tool, callId, input, shown, status } = item;
  const hosted = hostedItemOf(item);
  if (hosted !== undefined) {
    return {
      id,
      type: hosted.type,
      ...(hosted.hasNoStatus !== true && { status }),
      ...(hosted.hasCallId === true && { call_id: callId }),
      ...(hosted.input !== undefined && { arguments: input }),
      ...(hosted.membersOf?.(shown) ?? shown),
    };
  }
  return { id, type: `${vendor}:${tool}`, status, call_id: callId, arguments: input, ...shown };
}

/** An item in the form that is kept: with what the model got of a call of a server tool. */
export function keptItem(written: JsonObject, item: OutputItem): JsonObject {
  if (item.type !== 'server-call' || item.output === undefined || !showsCall(written.type)) return written;
  const { callId, tool, input, output } = item;
  return { ...written, [KEPT_CALL]: { call_id: callId, name: tool, arguments: input, output } };
}

// --- Images ---------------------------------------------------------------------------------------------------------

/** Images have no status `incomplete`. */
function imageStatus(status: ItemStatus): string {
  return status === 'incomplete' ? 'failed' : status;
}

// --- Refusals -------------------------------------------------------------------------------------------------------

export function showsRefusal(items: readonly OutputItem[]): boolean {
  return items.some(
    (item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'),
  );
}

/** Text of a refusal that the model gave no text for. */
export function refusalText(finish: Finish): string {
  return finish.explanation ?? 'The model declined to answer.';
}

// --- Relay ----------------------------------------------------------------------------------------------------------

/** An upstream's own item with its id replaced, and with members that strict clients require. */
export function patchOutputItem(
  item: JsonObject,
  id: string,
  status: ItemStatus,
  request: GenerationRequest,
): JsonObject {
  switch (item.type) {
    case 'message':
      return {
        ...item,
        id,
        role: 'assistant',
        status: item.status ?? status,
        content: objectsAt(item, 'content').map(patchOutputPart),
      };
    case 'reasoning': {
      const shown = request.reasoning?.exclude === true ? { ...item, summary: [], content: undefined } : item;
      return compact({ ...shown, id, summary: objectsAt(shown, 'summary') });
    }
    case INPUT_CHANNELS.function.type: {
      const whole = { ...item, id, status: item.status ?? status };
      const isEmpty = whole.status === 'completed' && item.arguments === '';
      return isEmpty ? { ...whole, arguments: NO_ARGUMENTS } : whole;
    }
    case INPUT_CHANNELS.custom.type:
      return { ...item, id, status: item.status ?? status };
    default:
      return { ...shownOpaque(item), id };
  }
}

/** An upstream's own part with lists that strict clients require. */
export function patchOutputPart(part: JsonObject): JsonObject {
  if (part.type !== TEXT_CHANNELS.text.partType) return part;
  if (Array.isArray(part.annotations) && Array.isArray(part.logprobs)) return part;
  return { ...part, annotations: objectsAt(part, 'annotations'), logprobs: objectsAt(part, 'logprobs') };
}

// --- What a stream has sent -----------------------------------------------------------------------------------------

/** Members of a text part besides its text. */
interface Draft {
  readonly annotations: Annotation[];
  readonly logprobs: Logprobs[number][];
  ext: Ext | undefined;
}

/**
 * Collects the members of each text part while it is written, so that the end of the part can show it alone: an item
 * may have too many parts to be shown whole at the end of each.
 */
export class TextDrafts {
  readonly #drafts = new Map<string, Draft>();

  see(event: Event): void {
    if (event.type === 'annotation') {
      this.#at(event.item, event.part).annotations.push(event.annotation);
    } else if (event.type === 'part-start' && event.kind === 'text') {
      this.#at(event.item, event.part).ext = event.ext;
    } else if (event.type === 'text-delta' && event.kind === 'text' && event.logprobs !== undefined) {
      const { logprobs } = this.#at(event.item, event.part);
      for (const logprob of event.logprobs) logprobs.push(logprob);
    }
  }

  /** The part with its final text. Nothing is kept of it. */
  take(item: number, part: number, text: string): Part {
    const { annotations, logprobs, ext } = this.#at(item, part);
    this.#drafts.delete(keyOf(item, part));
    return compact({ type: 'text', text, annotations, logprobs, ext });
  }

  #at(item: number, part: number): Draft {
    const key = keyOf(item, part);
    const draft = this.#drafts.get(key) ?? { annotations: [], logprobs: [], ext: undefined };
    this.#drafts.set(key, draft);
    return draft;
  }
}

function keyOf(item: number, part: number): string {
  return `${item}/${part}`;
}

// --- Frames ---------------------------------------------------------------------------------------------------------

/** Position of an output item in the caller's stream. */
export interface Placement {
  readonly id: string;
  readonly index: number;
  /** Calls: name of the tool. */
  readonly name?: string;
}

export const END_MARKER = writeSseFrame('[DONE]');

/** Writes the events of one stream, numbered from 0 without a gap. */
export class FrameWriter {
  readonly #numbers: ExactNumbers | undefined;
  #sequence = 0;
  /** Cached JSON of the last text's position, nearly always that of the next one. */
  #place: { readonly at: Placement; readonly part: number; readonly text: string } | undefined;

  constructor(numbers?: ExactNumbers) {
    this.#numbers = numbers;
  }

  /** The number of the next event, which the caller of this method writes itself. */
  take(): number {
    return this.#sequence++;
  }

  write(type: string, fields: JsonObject): string {
    const event = { type, sequence_number: this.take(), ...fields };
    return writeSseFrame(stringifyExactly(event, this.#numbers), type);
  }

  item(step: 'added' | 'done', at: Placement, item: JsonObject): string {
    return this.write(`response.output_item.${step}`, { output_index: at.index, item });
  }

  imageStep(step: 'in_progress' | 'generating' | 'completed', at: Placement): string {
    return this.write(`response.image_generation_call.${step}`, placeOf(at));
  }

  hostedStep(item: HostedItem, step: string, at: Placement): string {
    return this.write(`response.${item.type}.${step}`, placeOf(at));
  }

  /** The arguments of a call, which are known as a whole. */
  hostedInput({ input }: HostedItem, text: string, at: Placement): string {
    const events = input?.events;
    if (events === undefined) return '';
    const place = placeOf(at);
    return (
      this.write(events.delta, { ...place, delta: text }) +
      this.write(events.done, { ...place, arguments: text })
    );
  }

  /** The code among the arguments of a call, which is known as a whole. */
  hostedCode({ code: events }: HostedItem, input: string, at: Placement): string {
    const code = events && stringAt(inputObject(input, undefined), 'code');
    if (events === undefined || code === undefined) return '';
    const place = placeOf(at);
    return this.write(events.delta, { ...place, delta: code }) + this.write(events.done, { ...place, code });
  }

  partAdded(at: Placement, kind: PartKind, part: number): string {
    const channel = TEXT_CHANNELS[kind];
    return this.write(channel.partAdded, { ...placeOf(at), [channel.index]: part, part: partOf(kind, '') });
  }

  delta(at: Placement, kind: PartKind, part: number, delta: string, logprobs: JsonObject[] = []): string {
    const channel = TEXT_CHANNELS[kind];
    if (kind === 'text' && logprobs.length === 0) return this.#plainDelta(at, channel, part, delta);
    const fields = { ...placeOf(at), [channel.index]: part, delta };
    return this.write(channel.delta, kind === 'text' ? { ...fields, logprobs } : fields);
  }

  /** `delta` for text without log probabilities: most events of a stream. */
  #plainDelta(at: Placement, { delta: type, index }: TextChannel, part: number, delta: string): string {
    const place = this.#placeOf(at, index, part);
    return writeSseFrame(
      `{"type":"${type}","sequence_number":${this.take()},${place},"delta":${JSON.stringify(delta)},"logprobs":[]}`,
      type,
    );
  }

  #placeOf(at: Placement, index: string, part: number): string {
    if (this.#place?.at === at && this.#place.part === part) return this.#place.text;
    const text = `"item_id":${JSON.stringify(at.id)},"output_index":${at.index},"${index}":${part}`;
    this.#place = { at, part, text };
    return text;
  }

  /** The end of a part: its whole text, then the whole part. */
  partDone(at: Placement, kind: PartKind, part: number, text: string, whole: JsonObject): string {
    const channel = TEXT_CHANNELS[kind];
    const place = { ...placeOf(at), [channel.index]: part };
    const logprobs = kind === 'text' && { logprobs: whole.logprobs ?? [] };
    return (
      this.write(channel.done, { ...place, [channel.doneField]: text, ...logprobs }) +
      this.write(channel.partDone, { ...place, part: whole })
    );
  }

  /** The whole text of a server tool's result that was written in pieces. */
  resultTextDone(at: Placement, text: string): string {
    const { done, doneField, index } = TEXT_CHANNELS.text;
    return this.write(done, { ...placeOf(at), [index]: 0, [doneField]: text, logprobs: [] });
  }

  annotation(at: Placement, part: number, index: number, annotation: JsonObject): string {
    return this.write('response.output_text.annotation.added', {
      ...placeOf(at),
      content_index: part,
      annotation_index: index,
      annotation,
    });
  }

  /** The commands of a call of a shell, which are known as a whole. */
  shellCommands(at: Placement, commands: readonly string[]): string {
    return commands
      .map((command, command_index) => {
        const place = { output_index: at.index, command_index };
        return (
          this.write('response.shell_call_command.added', { ...place, command: '' }) +
          this.write('response.shell_call_command.delta', { ...place, delta: command }) +
          this.write('response.shell_call_command.done', { ...place, command })
        );
      })
      .join('');
  }

  inputDelta(at: Placement, kind: ToolKind, delta: string): string {
    return this.write(INPUT_CHANNELS[kind].delta, { ...placeOf(at), delta });
  }

  inputDone(at: Placement, kind: ToolKind, input: string): string {
    const { done, field } = INPUT_CHANNELS[kind];
    const name = kind === 'function' && { name: at.name };
    return this.write(done, { ...placeOf(at), ...name, [field]: input });
  }
}

/** The members of an event that name its item. */
export function placeOf(at: Placement): JsonObject {
  return { item_id: at.id, output_index: at.index };
}

export function partOf(kind: PartKind, text: string): JsonObject {
  const { partType, partField } = TEXT_CHANNELS[kind];
  return kind === 'text'
    ? { type: partType, text, annotations: [], logprobs: [] }
    : { type: partType, [partField]: text };
}
