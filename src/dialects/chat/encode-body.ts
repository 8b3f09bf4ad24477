import type { Item } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { type Result, writtenItems } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { defineAll, membersBeyond, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { metadataOf } from './encode.ts';
import { asDeclared, speaksLegacyCalls } from './encode-calls.ts';
import { renderLogprobs, renderMessage } from './encode-content.ts';
import { renderFinish } from './finish.ts';
import { calledName, keptAnswer, type ServerCall } from './kept-calls.ts';
import { renderUsage, usageObjectIn } from './usage.ts';

// --- The whole body -------------------------------------------------------------------------------------------------

export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const { finish, settled, relayed } = result;
  const upstream = relayed === undefined ? undefined : objectsAt(relayed, 'choices')[0];
  const isLegacy = speaksLegacyCalls(context.request);
  // This format has no items for server tools: their answer is one message.
  const written = writtenItems(result.items);
  const items = relayed === undefined ? written.map((item) => asDeclared(item, context.request)) : written;
  if (context.keepItem !== undefined) keepServerCalls(result, context.request, context.keepItem);
  const excludesReasoning = context.request.reasoning?.exclude === true;
  const spoken = renderMessage(items, excludesReasoning);
  const said = objectAt(upstream, 'message') ?? {};
  const extras = membersBeyond(said, REWRITTEN_FIELDS);
  const message = extras === undefined ? spoken : Object.assign(extras, spoken);
  if (!excludesReasoning) relayThoughts(message, said);
  if (isLegacy) Object.assign(message, { tool_calls: undefined }, legacyCall(said, items));
  const hasRefusal = message.refusal !== null;
  if (!hasRefusal && finish?.explanation !== undefined) message.refusal = finish.explanation;
  // Assigned: an object literal with a repeated member is many times slower.
  const body: JsonObject = { system_fingerprint: null };
  if (relayed !== undefined) defineAll(body, membersBeyond(relayed, OWN_FIELDS) ?? {});
  if (finish?.ext?.chat !== undefined) defineAll(body, finish.ext.chat);
  Object.assign(body, {
    id: context.generationId,
    object: 'chat.completion',
    created: Math.floor(context.createdAtMs / 1000),
    model: context.model,
    provider: context.provider,
    choices: [
      {
        index: 0,
        message,
        finish_reason: renderFinish(finish ?? { reason: 'stop' }, { hasRefusal, isLegacy }),
        native_finish_reason: finish?.nativeReason ?? null,
        logprobs: objectAt(upstream, 'logprobs') ?? renderLogprobs(written),
      },
    ],
    service_tier: finish?.serviceTier ?? context.serviceTier,
  });
  if (settled === undefined) return body;
  body.usage = renderUsage(settled, relayed === undefined ? undefined : usageObjectIn(relayed));
  return Object.assign(body, metadataOf(context, settled.metadata));
}

/** Keeps what the model got of server tools, if the answer has calls for the caller too. */
function keepServerCalls(
  { items }: Result,
  { body }: GenerationRequest,
  keepItem: NonNullable<ReplyContext['keepItem']>,
): void {
  const serverCalls = items.flatMap((item): ServerCall[] => {
    if (item.type !== 'server-call' || item.output === undefined) return [];
    const { callId, tool, input, output, shown } = item;
    return [{ callId, name: calledName(tool, shown), input, output }];
  });
  const first = items.find((item) => item.type === 'tool-call');
  const kept = keptAnswer(body, serverCalls, first?.callId);
  if (kept !== undefined) keepItem(kept);
}

/** The call for callers of the format's first generation, with arguments that the upstream may have left out. */
function legacyCall(said: JsonObject, items: readonly Item[]): JsonObject {
  const given = objectAt(said, 'function_call');
  const call = items.find((item) => item.type === 'tool-call');
  if (call === undefined) return {};
  // An upstream that answers with `tool_calls` sends no `function_call`.
  return { function_call: { ...(given ?? { name: call.name }), arguments: call.input } };
}

// --- Relay ----------------------------------------------------------------------------------------------------------

/** Members of an upstream's body that the gateway writes itself. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'usage',
]);

/** Members of an upstream's message that the gateway rewrites in a form that every client knows. */
const REWRITTEN_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'images',
]);

/** Copies the upstream's own reasoning members over ours if every client can read them, because they include seals. */
function relayThoughts(message: JsonObject, said: JsonObject): void {
  const reasoning = textAt(said, 'reasoning');
  const details = objectsAt(said, 'reasoning_details');
  if (reasoning !== undefined) message.reasoning = reasoning;
  if (details.length > 0) message.reasoning_details = details;
}
