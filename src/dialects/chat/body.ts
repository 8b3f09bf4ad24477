import { GatewayError } from '../../ir/errors.ts';
import type { Event } from '../../ir/events.ts';
import type { Result } from '../../ir/result.ts';
import type { JsonObject } from '../../kit/json.ts';
import { membersBeyond, objectAt, objectsAt } from '../../kit/members.ts';
import type { DecodeContext, ReplyContext } from '../dialect.ts';
import { renderLogprobs, renderMessage, speaksLegacyCalls } from './answer.ts';
import { metadataOf } from './encode.ts';
import { renderFinishReason } from './finish-reason.ts';

import { AnswerReader } from './read-answer.ts';
import { renderUsage, usageObjectIn } from './usage.ts';

// --- From the upstream ---------------------------------------------------------------------------------------------------

/** Events of a whole body. A body without an answer or an error becomes a failure. */
export function decodeBody(body: JsonObject, context: DecodeContext): Event[] {
  const events = readBody(body, context);
  return context.relay
    ? [{ type: 'relay', dialect: 'chat', frame: { data: '' }, value: body, events, whole: true }]
    : events;
}

function readBody(body: JsonObject, context: DecodeContext): Event[] {
  const reader = new AnswerReader(context);
  const events = reader.read(body);
  if (reader.isEnded) return events;
  const hasMessage = objectsAt(body, 'choices').some((choice) => objectAt(choice, 'message') !== undefined);
  const unreadable = new GatewayError(
    'upstream-unavailable',
    'The provider sent an answer that could not be read',
  );
  return [...events, ...(hasMessage ? reader.finish() : reader.fail(unreadable))];
}

// --- To the caller -------------------------------------------------------------------------------------------------------

/** Members of an upstream's body that are ours to say. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'provider',
  'choices',
  'usage',
]);

/** Members of an upstream's message that we say in a form every client knows. */
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

/** The non-streaming reply. */
export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const { finish, settled, relayed } = result;
  const upstream = relayed === undefined ? undefined : objectsAt(relayed, 'choices')[0];
  const isLegacy = speaksLegacyCalls(context.request);
  const spoken = renderMessage(result.items, context.request.reasoning?.exclude === true);
  const message: JsonObject = {
    ...membersBeyond(objectAt(upstream, 'message') ?? {}, REWRITTEN_FIELDS),
    ...spoken,
    ...(isLegacy && { tool_calls: undefined }),
  };
  const hasRefusal = message.refusal !== null;
  const explanation = hasRefusal ? undefined : finish?.explanation;
  const ending = finish ?? { reason: 'stop' };
  return {
    system_fingerprint: null,
    ...membersBeyond(relayed ?? {}, OWN_FIELDS),
    ...finish?.ext?.chat,
    id: context.generationId,
    object: 'chat.completion',
    created: Math.floor(context.createdAtMs / 1000),
    model: context.model,
    provider: context.provider,
    choices: [
      {
        index: 0,
        message: explanation === undefined ? message : { ...message, refusal: explanation },
        finish_reason: renderFinishReason(ending, { hasRefusal, isLegacy }),
        native_finish_reason: finish?.nativeReason ?? null,
        logprobs: objectAt(upstream, 'logprobs') ?? renderLogprobs(result.items),
      },
    ],
    service_tier: finish?.serviceTier ?? context.serviceTier,
    ...(settled !== undefined && {
      usage: renderUsage(settled, relayed === undefined ? undefined : usageObjectIn(relayed)),
    }),
    ...metadataOf(context, settled?.metadata),
  };
}
