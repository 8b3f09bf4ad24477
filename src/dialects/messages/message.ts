import type { Finish, Settled } from '../../ir/events.ts';
import { NO_USAGE, type Usage } from '../../ir/usage.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { defineAll } from '../../kit/json/members.ts';
import type { ReplyContext } from '../dialect.ts';
import { renderCost, renderUsage } from './usage.ts';

/** The parts of a message that streams and whole bodies share. */

/** `msg_` and the random part of the generation's id. */
export function messageId(context: ReplyContext): string {
  return `msg_${context.generationId.slice(context.generationId.lastIndexOf('-') + 1)}`;
}

/** Fields that every message has and that come from the gateway in both lanes. */
export function identityFields(context: ReplyContext): JsonObject {
  const fields: JsonObject = { id: messageId(context), model: context.model };
  if (context.provider !== '') fields.provider = context.provider;
  return fields;
}

/** A message of which nothing is written yet. */
export function emptyMessage(
  context: ReplyContext,
  usage = renderUsage(NO_USAGE, context.serviceTier),
): JsonObject {
  return {
    ...identityFields(context),
    type: 'message',
    role: 'assistant',
    content: [],
    container: null,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage,
  };
}

/** The usage object at the end: settled counts and cost over what the upstream wrote beside its counts. */
export function finalUsage(
  context: ReplyContext,
  finish: Finish,
  usage: Usage | undefined,
  written?: JsonObject,
): JsonObject {
  const counts = finish.settled?.usage ?? usage ?? NO_USAGE;
  const native = finish.ext?.messages?.usage;
  const rendered = renderUsage(counts, finish.serviceTier ?? context.serviceTier);
  const all = written === undefined ? rendered : { ...written, ...rendered };
  if (isJsonObject(native)) defineAll(all, native);
  return finish.settled === undefined ? all : Object.assign(all, renderCost(finish.settled));
}

/** The routing metadata under its field name; no member when the caller did not ask. */
export function metadataField(context: ReplyContext, settled: Settled | undefined): JsonObject {
  return settled?.metadata === undefined
    ? {}
    : { [`${context.vendor}_metadata`]: settled.metadata as unknown as JsonObject };
}

/** True when the caller asked that thoughts be made but not shown. */
export function hidesThoughts({ request }: ReplyContext): boolean {
  return request.reasoning?.display === 'omitted' || request.reasoning?.exclude === true;
}
