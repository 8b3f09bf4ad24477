import { mapUnknownFields } from '../../../dialects/shared/report/passed-on-fields.ts';
import type { Item, Role } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { Pace, type Sliced } from '../../../kit/loop/turns.ts';
import { type Moved, mapTexts } from './map-texts.ts';
import { mapToolInput } from './tool-input.ts';

/** Whose words a text is. */
export type TextRole = Role | 'tool';

export interface SentTexts {
  /**
   * Returns what a text is replaced by, or the text itself. `owner`: its item, or its member of the request; `member`:
   * the innermost member that holds it.
   */
  readonly change: (text: string, role: TextRole, owner: Item | string, member: string) => string;
  /** Called with JSON that goes out as a text, after all texts in it were changed. */
  readonly changedJson: (json: string) => void;
}

/** Members besides items that dialects render, and whose words they are. */
const MEMBERS = {
  tools: 'system',
  toolChoice: 'system',
  outputFormat: 'system',
  cache: 'system',
  sampling: 'system',
  imageConfig: 'user',
  embedding: 'user',
  metadata: 'user',
  promptCacheKey: 'user',
  promptCacheOptions: 'system',
  reasoning: 'system',
  verbosity: 'system',
  modalities: 'system',
  serviceTier: 'system',
  include: 'system',
  ext: 'user',
} as const satisfies Partial<Record<keyof GenerationRequest, TextRole>>;

/**
 * Members of the caller's body of which renderers for the same dialect send values that the representation does not
 * have.
 */
const BODY_MEMBERS = ['tool_choice', 'truncation', 'reasoning', 'reasoning_effort', 'thinking'] as const;

/**
 * The request with every text of the caller replaced by what `change` returns. The same request if nothing changes.
 * Of the caller's own body only what renderers read is replaced, because a request under guardrails is never relayed;
 * but one for embeddings always is.
 */
export function* mapRequest(request: GenerationRequest, texts: SentTexts): Sliced<GenerationRequest> {
  const { change } = texts;
  const { places } = request;
  /** Reports still find the place of what was replaced. */
  const moved = (from: object, to: object) => {
    const path = places.of(from);
    if (path !== undefined) places.put(to, path);
  };
  const changes: Record<string, unknown> = {};
  const items: Item[] = [];
  const pace = new Pace();
  for (const item of request.items) {
    if (pace.tick()) yield;
    items.push(mapItem(item, texts, moved));
  }
  if (items.some((item, index) => item !== request.items[index])) changes.items = items;
  for (const [member, role] of Object.entries(MEMBERS)) {
    const value = request[member as keyof GenerationRequest];
    if (value === undefined) continue;
    const changed = mapTexts(value, (text, inner) => change(text, role, member, inner), moved, member);
    if (changed !== value) changes[member] = changed;
  }
  const body =
    request.embedding === undefined
      ? mapBodyMembers(request.body, change, moved)
      : mapTexts(request.body, (text) => change(text, 'user', 'input', ''), moved);
  if (body !== request.body) changes.body = body;
  // Upstreams of the request's own format get these as they are. One whose name is replaced is left out.
  if (request.unknownFields.length > 0) {
    const unknownFields = request.unknownFields.filter((name) => change(name, 'user', name, '') === name);
    if (unknownFields.length < request.unknownFields.length) changes.unknownFields = unknownFields;
    const before = { ...request, ...changes };
    const after = mapUnknownFields(before, (value, field) =>
      mapTexts(value, (text, inner) => change(text, 'user', field, inner), moved, field),
    );
    if (after !== before.body) changes.body = after;
  }
  const { wishes } = request;
  const plugins = mapTexts(wishes.plugins, (text) => change(text, 'user', 'plugins', ''));
  if (plugins !== wishes.plugins) changes.wishes = { ...wishes, plugins };
  return Object.keys(changes).length === 0 ? request : { ...request, ...changes };
}

function mapBodyMembers(body: JsonObject, change: SentTexts['change'], moved: Moved): JsonObject {
  const changes: JsonObject = {};
  for (const name of BODY_MEMBERS) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const changed = mapTexts(value, (text, inner) => change(text, 'system', name, inner), moved, name);
    if (changed !== value) changes[name] = changed;
  }
  return Object.keys(changes).length === 0 ? body : { ...body, ...changes };
}

function mapItem(item: Item, texts: SentTexts, moved: (from: object, to: object) => void): Item {
  const role = roleOf(item);
  const changed = mapTexts(item, (text, member) => changedText(item, text, member, role, texts), moved);
  if (changed === item) return item;
  const bare = withoutSeals(changed);
  if (bare !== changed) moved(item, bare);
  return bare;
}

function changedText(
  item: Item,
  text: string,
  member: string,
  role: TextRole,
  { change, changedJson }: SentTexts,
): string {
  const isInput = item.type === 'tool-call' && item.kind === 'function' && member === 'input';
  if (!isInput) return change(text, role, item, member);
  const input = mapToolInput(text, (inner) => change(inner, role, item, member));
  changedJson(input);
  return input;
}

function roleOf(item: Item): TextRole {
  switch (item.type) {
    case 'message':
      return item.role;
    case 'tool-result':
      return 'tool';
    case 'opaque':
      return item.role ?? 'user';
    default:
      return 'assistant';
  }
}

/** Seals are proofs over the text as it was: changed text has none, nor what dialects keep beside it. */
function withoutSeals(item: Item): Item {
  if (item.type === 'reasoning') {
    const { signature: _, encrypted: __, ext: ___, ...bare } = item;
    return bare;
  }
  if (item.type === 'tool-call') {
    const { signature: _, signatureFormat: __, signatureGivenBy: ___, ...bare } = item;
    return bare;
  }
  return item;
}
