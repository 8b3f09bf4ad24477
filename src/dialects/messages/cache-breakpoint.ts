import type { CacheMark } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { renderCacheMark } from '../gateway-fields.ts';
import type { Report } from '../report.ts';

/** Upstreams take this many marks in one request. */
const MAX_MARKS = 4;

/** Blocks that may not carry a mark. */
const UNMARKABLE: ReadonlySet<Json | undefined> = new Set(['thinking', 'redacted_thinking']);

/**
 * Puts the automatic mark on the last cacheable block of a wire body: in the messages, else in the system prompt, else
 * in the tools, since that is the order of the prompt. What is marked is copied; the rest stays the caller's own.
 */
export function markLastCacheable(body: JsonObject, mark: CacheMark, report: Report): JsonObject {
  if (countMarks(body) >= MAX_MARKS) {
    report.dropped(
      report.name('cache'),
      `${MAX_MARKS} blocks are marked already, the most the upstream takes`,
    );
    return body;
  }
  const control = renderCacheMark(mark);
  const changes =
    change(body, 'messages', (messages) => markMessages(messages, control)) ??
    change(body, 'system', (system) => markContent(system, control)) ??
    change(body, 'tools', (tools) => markContent(tools, control));
  return { ...body, ...changes };
}

function change(
  body: JsonObject,
  field: string,
  mark: (value: Json) => Json | undefined,
): JsonObject | undefined {
  const value = body[field];
  const marked = value === undefined ? undefined : mark(value);
  return marked === undefined ? undefined : { [field]: marked };
}

function markMessages(messages: Json, control: JsonObject): Json | undefined {
  return replaceLast(messages, (message) => {
    const content = isJsonObject(message) ? markContent(message.content, control) : undefined;
    return content === undefined ? undefined : { ...(message as JsonObject), content };
  });
}

/** Content with the mark on its last block; undefined when nothing in it can carry one. */
function markContent(content: Json | undefined, control: JsonObject): Json | undefined {
  if (typeof content === 'string') {
    return content === '' ? undefined : [{ type: 'text', text: content, cache_control: control }];
  }
  return replaceLast(content, (block) => {
    if (!isJsonObject(block) || UNMARKABLE.has(block.type) || (block.type === 'text' && block.text === '')) {
      return undefined;
    }
    return isJsonObject(block.cache_control) ? block : { ...block, cache_control: control };
  });
}

/** The list with its last replaceable entry replaced. */
function replaceLast(list: Json | undefined, replace: (entry: Json) => Json | undefined): Json | undefined {
  if (!Array.isArray(list)) return undefined;
  for (let index = list.length - 1; index >= 0; index--) {
    const replaced = replace(list[index] as Json);
    if (replaced !== undefined) return [...list.slice(0, index), replaced, ...list.slice(index + 1)];
  }
  return undefined;
}

function countMarks(body: JsonObject): number {
  const blocks = [body.tools, body.system, ...listOf(body.messages).map(contentOf)].flatMap(listOf);
  const nested = blocks.flatMap((block) => listOf(contentOf(block)));
  return [...blocks, ...nested].filter((block) => isJsonObject(block) && isJsonObject(block.cache_control))
    .length;
}

function contentOf(value: Json): Json | undefined {
  return isJsonObject(value) ? value.content : undefined;
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
