import type { CacheMark } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { RenderTarget } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import { renderCacheMark } from '../shared/requests/gateway-fields.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';

export interface RenderContext {
  readonly request: GenerationRequest;
  readonly target: RenderTarget;
  readonly report: Report;
  readonly marks: CacheMarks;
  /** The upstream's names of the request's tools. */
  readonly names: FlatNames;
}

export function renderContext(request: GenerationRequest, target: RenderTarget): RenderContext {
  return {
    request,
    target,
    report: new Report(request),
    marks: new CacheMarks(),
    names: flatNames(request),
  };
}

// --- Cache marks ----------------------------------------------------------------------------------------------------

/** Marks that upstreams accept in one request. */
const MAX_CACHE_MARKS = 4;

/** Blocks that cannot carry a mark. */
const UNMARKABLE: ReadonlySet<Json | undefined> = new Set(['thinking', 'redacted_thinking']);

/** Puts the caller's marks on the blocks of one request, and removes those beyond the upstream's limit. */
export class CacheMarks {
  /** Path of each block's mark in the caller's body. */
  readonly #fields = new Map<JsonObject, string>();

  /** Puts a mark on a block that is ours, and returns the block. `field`: path of the mark in the caller's body. */
  put(block: JsonObject, mark: CacheMark | undefined, field: () => string): JsonObject {
    if (mark === undefined) return block;
    block.cache_control = renderCacheMark(mark);
    this.#fields.set(block, field());
    return block;
  }

  /** A block of the caller: a copy if it has a mark, because that may be removed. */
  adopt(block: JsonObject, field: () => string): JsonObject {
    if (!isJsonObject(block.cache_control)) return block;
    const own = { ...block };
    this.#fields.set(own, field());
    return own;
  }

  /**
   * Keeps the last marks of a body in the order of the prompt: a later mark caches everything that an earlier one
   * does.
   */
  keepLast(body: JsonObject, report: Report): void {
    const marked = markedBlocks(body);
    const surplus = marked.slice(0, Math.max(0, marked.length - MAX_CACHE_MARKS));
    for (const block of surplus) {
      const field = this.#fields.get(block);
      if (field === undefined) continue;
      delete block.cache_control;
      report.dropped(field, `the upstream takes ${MAX_CACHE_MARKS} marks: the last ones are kept`);
    }
  }
}

/**
 * Puts the automatic mark on the last cacheable block of a wire body: in the messages, else in the system prompt, else
 * in the tools, which is the order of the prompt. Copies the marked block; the rest stays the caller's own.
 */
export function markLastCacheable(body: JsonObject, mark: CacheMark, report: Report): JsonObject {
  const control = renderCacheMark(mark);
  const changes =
    change(body, 'messages', (messages) => markMessages(messages, control)) ??
    change(body, 'system', (system) => markContent(system, control)) ??
    change(body, 'tools', (tools) => markContent(tools, control));
  const marked = { ...body, ...changes };
  if (markedBlocks(marked).length <= MAX_CACHE_MARKS) return marked;
  report.dropped(
    report.name('cache'),
    `${MAX_CACHE_MARKS} blocks are marked already, the most the upstream takes`,
  );
  return body;
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

/** Content with the mark on its last block; undefined if no block can carry one. */
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

/** The marked blocks of a body in the order of the prompt; inner blocks come before the block around them. */
function markedBlocks(body: JsonObject): JsonObject[] {
  const marked: JsonObject[] = [];
  const collect = (list: Json | undefined): void => {
    for (const block of listOf(list)) {
      if (!isJsonObject(block)) continue;
      for (const inner of listOf(block.content)) if (isMarked(inner)) marked.push(inner);
      if (isMarked(block)) marked.push(block);
    }
  };
  collect(body.tools);
  collect(body.system);
  for (const message of listOf(body.messages)) if (isJsonObject(message)) collect(message.content);
  return marked;
}

function isMarked(block: Json): block is JsonObject {
  return isJsonObject(block) && isJsonObject(block.cache_control);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : NOTHING;
}

const NOTHING: readonly Json[] = [];
