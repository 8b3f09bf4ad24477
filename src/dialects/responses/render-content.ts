import type {
  ImageItem,
  Item,
  MessageItem,
  ReasoningItem,
  Source,
  ToolCallItem,
  ToolResultItem,
} from '../../ir/items.ts';
import type { Quirks } from '../../ir/quirks.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { compact, stringAt } from '../../kit/json/members.ts';
import { renderUrl } from '../shared/media/data-url.ts';
import type { Report } from '../shared/report/report.ts';
import { isOnlySettings } from '../shared/requests/system-messages.ts';
import { facts } from './facts.ts';
import { cleanItem } from './render-losses.ts';
import { renderParts } from './render-parts.ts';
import { ID_PREFIXES } from './wire.ts';
import { isOperatorItem } from './wire-content.ts';

/** Renders the conversation: one entry of `input` for each item that the upstream can take. */
export function renderConversation(items: readonly Item[], report: Report, quirks?: Quirks): JsonObject[] {
  const input: JsonObject[] = [];
  for (const item of items) {
    const rendered = renderItem(item, new OwnSpot(item, report, quirks));
    if (rendered !== undefined) input.push(rendered);
  }
  return input;
}

/** Place of an item in the caller's body, the report, and the quirks of the provider. */
export interface ItemSpot {
  readonly place: string;
  readonly report: Report;
  readonly quirks?: Quirks | undefined;
}

/** The spot of an item of the request: its place is looked up only for a report entry. */
class OwnSpot implements ItemSpot {
  readonly #item: Item;
  readonly report: Report;
  readonly quirks: Quirks | undefined;

  constructor(item: Item, report: Report, quirks: Quirks | undefined) {
    this.#item = item;
    this.report = report;
    this.quirks = quirks;
  }

  get place(): string {
    return this.report.place(this.#item, 'items');
  }
}

/** Renders one item; returns undefined, and reports that, if the upstream cannot take it. */
export function renderItem(item: Item, spot: ItemSpot): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return renderMessage(item, spot);
    case 'reasoning':
      return renderThoughts(item, spot);
    case 'tool-call':
      return renderToolCall(item, spot);
    case 'tool-result':
      return renderToolResult(item, spot);
    case 'image':
      return renderImageItem(item);
    case 'opaque':
      return renderOpaque(item, spot);
  }
}

/** An id with a prefix that the upstream accepts. */
function ownId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) ? id : undefined;
}

// --- Messages -------------------------------------------------------------------------------------------------------

function renderMessage(
  item: MessageItem,
  { report, quirks }: Pick<ItemSpot, 'report' | 'quirks'>,
): JsonObject | undefined {
  if (isOnlySettings(item)) return undefined;
  return compact({
    type: 'message',
    id: ownId(item.id, ID_PREFIXES.message),
    role: roleFor(item.role, quirks),
    status: item.status,
    phase: item.phase,
    content: renderParts(item.content, item.role === 'assistant' ? 'output_text' : 'input_text', report),
    ...item.ext?.responses,
  });
}

export function roleFor(role: Json | undefined, quirks: Quirks | undefined): Json | undefined {
  return role === 'developer' && quirks?.refusesDeveloperRole === true ? 'system' : role;
}

// --- Thoughts -------------------------------------------------------------------------------------------------------

/**
 * Sealed reasoning goes back to the family that sealed it. Reasoning of another family is sent as text, without its
 * id, which the upstream would look up and not find.
 */
function renderThoughts(item: ReasoningItem, spot: ItemSpot): JsonObject | undefined {
  const { encrypted, signature } = item;
  const isOwn = facts.seals.ofThoughts(item, spot.quirks);
  const isSealed = encrypted !== undefined || signature !== undefined;
  const isVisible = item.text.length > 0 || item.summary.length > 0;
  if (isOwn && signature !== undefined) reportSeal('signature', spot);
  if (isSealed && !isOwn) {
    if (isVisible) reportSeal(spot.report.form.seals.memberOf(item), spot);
    else spot.report.dropped(spot.place, 'sealed by another family of models, and without text');
  }
  if (!isOwn && !isVisible) return undefined;
  return compact({
    type: 'reasoning',
    id: isOwn ? item.id : undefined,
    summary: item.summary.map((text) => ({ type: 'summary_text', text })),
    content: item.text.length > 0 ? item.text.map((text) => ({ type: 'reasoning_text', text })) : undefined,
    encrypted_content: isOwn ? encrypted : undefined,
    status: item.status,
    ...item.ext?.responses,
  });
}

function reportSeal(member: string | undefined, { place, report }: Pick<ItemSpot, 'place' | 'report'>): void {
  const detail = 'sealed by another family of models; sent without the seal';
  if (member === undefined) report.coerced(place, detail);
  else report.dropped(`${place}.${member}`, detail);
}

// --- Calls ----------------------------------------------------------------------------------------------------------

function renderToolCall(item: ToolCallItem, spot: ItemSpot): JsonObject {
  if (item.signature !== undefined) {
    // The chat format has seals of calls beside the list of calls.
    const place = spot.place.replace(/\.tool_calls\[\d+\]$/, '.reasoning_details');
    reportSeal(spot.report.form.seals.memberOf(item), { report: spot.report, place });
  }
  const input = item.kind === 'custom' ? { input: item.input } : { arguments: item.input };
  return compact({
    type: item.kind === 'custom' ? 'custom_tool_call' : 'function_call',
    id: ownId(item.id, ID_PREFIXES[item.kind]),
    call_id: item.callId,
    name: item.name,
    namespace: item.namespace,
    ...input,
    status: item.status,
    ...item.ext?.responses,
  });
}

// --- Results of calls -----------------------------------------------------------------------------------------------

function renderToolResult(item: ToolResultItem, spot: ItemSpot): JsonObject {
  return compact({
    type: item.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output',
    id: item.id,
    call_id: item.callId,
    output: renderOutput(item, spot.report),
    status: item.status,
    ...item.ext?.responses,
  });
}

/** The output of a tool: a string if that says it all. */
function renderOutput(item: ToolResultItem, report: Report): Json {
  const [only] = item.content;
  if (only === undefined) return '';
  if (item.content.length === 1 && only.type === 'text' && only.ext?.responses === undefined)
    return only.text;
  return renderParts(item.content, 'input_text', report);
}

// --- Images ---------------------------------------------------------------------------------------------------------

function renderImageItem(item: ImageItem): JsonObject {
  return compact({ ...imageFields(item.source), id: item.id, status: item.status, ...item.ext?.responses });
}

export function imageFields(source: Source): JsonObject {
  const format = source.kind === 'base64' ? source.mediaType.replace(/^image\//, '') : 'png';
  return compact({
    type: 'image_generation_call',
    result: source.kind === 'base64' ? source.data : (renderUrl(source) ?? null),
    output_format: format === 'png' ? undefined : format,
  });
}

// --- Other items ----------------------------------------------------------------------------------------------------

function renderOpaque(
  item: Extract<Item, { type: 'opaque' }>,
  { place, report }: ItemSpot,
): JsonObject | undefined {
  const type = stringAt(item.value, 'type') ?? 'unknown';
  if (item.dialect === 'responses' && !isOperatorItem(type)) {
    // Hosted tools are among the request's own, as far as the upstream runs them.
    return cleanItem(item.value, place, report, () => false);
  }
  report.dropped(place, `the upstream has no place for ${type}`);
  return undefined;
}
