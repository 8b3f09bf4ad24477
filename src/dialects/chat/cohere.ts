import type { JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';

/**
 * Version 2 of Cohere's chat, for providers with the quirk `answerForm: 'cohere'`. Its events and bodies are converted
 * to this dialect before they are decoded. Those that already have its shape pass unchanged: the same provider also
 * offers a compatible interface.
 */

/** A stream event as a chunk of this dialect. */
export function asChatChunk(value: JsonObject): JsonObject {
  const type = stringAt(value, 'type');
  const deltaOf = type === undefined ? undefined : DELTAS.get(type);
  if (type === 'message-end') return lastChunk(value);
  return deltaOf === undefined ? value : chunkOf(value, { delta: deltaOf(value) });
}

/** A whole body in the shape of this dialect. */
export function asChatBody(body: JsonObject): JsonObject {
  const message = objectAt(body, 'message');
  if (message === undefined || 'choices' in body || textAt(body, 'finish_reason') === undefined) return body;
  const parts = objectsAt(message, 'content');
  const choice = { index: 0, message: messageOf(message, parts), ...endOf(body) };
  const usage = usageOf(objectAt(body, 'usage'));
  return compact({
    id: body.id ?? null,
    object: 'chat.completion',
    choices: [choice] as JsonObject[],
    usage,
  });
}

// --- Streams --------------------------------------------------------------------------------------------------------

const DELTAS: ReadonlyMap<string, (event: JsonObject) => JsonObject> = new Map([
  ['message-start', (event: JsonObject) => pick('role', messageIn(event))],
  ['content-start', contentDelta],
  ['content-delta', contentDelta],
  ['content-end', nothing],
  ['tool-plan-delta', (event: JsonObject) => planOf(messageIn(event))],
  ['tool-call-start', callDelta],
  ['tool-call-delta', callDelta],
  ['tool-call-end', nothing],
  ['citation-start', (event: JsonObject) => annotationsOf([objectAt(messageIn(event), 'citations')])],
  ['citation-end', nothing],
]);

function messageIn(event: JsonObject): JsonObject | undefined {
  return objectAt(objectAt(event, 'delta'), 'message');
}

function contentDelta(event: JsonObject): JsonObject {
  const content = objectAt(messageIn(event), 'content');
  return { ...pick('text', content, 'content'), ...pick('thinking', content, 'reasoning') };
}

/** One call at a time, as an object; the event has its index. */
function callDelta(event: JsonObject): JsonObject {
  const call = objectAt(messageIn(event), 'tool_calls');
  return call === undefined ? {} : { tool_calls: [compact({ index: numberAt(event, 'index'), ...call })] };
}

function nothing(): JsonObject {
  return {};
}

function lastChunk(event: JsonObject): JsonObject {
  const delta = objectAt(event, 'delta') ?? {};
  return compact({
    ...chunkOf(event, { delta: {}, finish_reason: 'stop', ...endOf(delta) }),
    usage: usageOf(objectAt(delta, 'usage')),
    error: delta.error,
  });
}

function chunkOf(event: JsonObject, choice: JsonObject): JsonObject {
  const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] };
  return { ...pick('id', event), ...chunk };
}

// --- Bodies ---------------------------------------------------------------------------------------------------------

function messageOf(message: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const thoughts = [planOf(message).reasoning, ...parts.map(({ thinking }) => thinking)];
  return compact({
    role: 'assistant',
    content: joined(parts.map(({ text }) => text)) ?? stringAt(message, 'content') ?? null,
    reasoning: joined(thoughts),
    tool_calls: Array.isArray(message.tool_calls) ? message.tool_calls : undefined,
    ...annotationsOf(objectsAt(message, 'citations')),
  });
}

function joined(pieces: readonly unknown[]): string | undefined {
  const texts = pieces.filter((piece) => typeof piece === 'string');
  return texts.length === 0 ? undefined : texts.join('');
}

// --- Both -----------------------------------------------------------------------------------------------------------

/** The plan before tool calls is reasoning, not an answer. */
function planOf(message: JsonObject | undefined): JsonObject {
  return pick('tool_plan', message, 'reasoning');
}

const FINISH_WORDS: ReadonlyMap<string, string> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_TOXIC', 'content_filter'],
  ['ERROR', 'error'],
  ['TIMEOUT', 'error'],
]);

function endOf(object: JsonObject): JsonObject {
  const word = textAt(object, 'finish_reason');
  if (word === undefined) return {};
  return { finish_reason: FINISH_WORDS.get(word) ?? word, native_finish_reason: word };
}

/** Billed units exclude the server's own part of the prompt, so they are used only without other counts. */
function usageOf(usage: JsonObject | undefined): JsonObject | undefined {
  const tokens = objectAt(usage, 'tokens') ?? objectAt(usage, 'billed_units');
  if (usage === undefined || tokens === undefined) return undefined;
  return compact({
    prompt_tokens: tokens.input_tokens,
    completion_tokens: tokens.output_tokens,
    prompt_tokens_details: compact({ cached_tokens: usage.cached_tokens }),
  }) as JsonObject;
}

/** Citations of documents with an address; others refer to documents that only the server has. */
function annotationsOf(citations: readonly (JsonObject | undefined)[]): JsonObject {
  const annotations = citations.flatMap((citation) =>
    objectsAt(citation, 'sources').flatMap((source) => {
      const document = objectAt(source, 'document') ?? objectAt(source, 'tool_output');
      const url = textAt(document, 'url');
      if (url === undefined) return [];
      const span = compact({
        start_index: numberAt(citation, 'start'),
        end_index: numberAt(citation, 'end'),
      });
      return [{ type: 'url_citation', url_citation: { url, ...pick('title', document), ...span } }];
    }),
  );
  return annotations.length === 0 ? {} : { annotations };
}

/** A text member under this dialect's name. */
function pick(name: string, object: JsonObject | undefined, as = name): JsonObject {
  const text = textAt(object, name);
  return text === undefined ? {} : { [as]: text };
}
