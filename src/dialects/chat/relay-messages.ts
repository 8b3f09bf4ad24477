import { NO_QUIRKS, type Quirks } from '../../ir/quirks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { compact, objectsAt, textAt } from '../../kit/members.ts';
import { Pace, type Sliced } from '../../kit/turns.ts';
import type { RenderTarget } from '../dialect.ts';
import {
  type CallStep,
  labelOfResult,
  NO_RESULT,
  unpaired,
  WITHOUT_CALL,
  WITHOUT_RESULT,
} from '../pair-calls.ts';
import { messageIndex } from '../preset-message.ts';
import type { Report } from '../report.ts';
import { FOREIGN_SEAL } from './losses.ts';
import { toolCallId } from './quirks.ts';
import { groupsOf, isForeign, isSealOfCall, PLAIN_THOUGHTS } from './reasoning-details.ts';
import { joinedText } from './render-parts.ts';

/** The caller's messages as the provider takes them. A list in which nothing changes is returned itself. */
export function* relayedMessages(
  messages: Json | undefined,
  { quirks = NO_QUIRKS }: RenderTarget,
  report: Report,
): Sliced<Json | undefined> {
  const unsealed = yield* withoutForeignSeals(messages, report);
  const cleaned = yield* withPairedCalls(unsealed, report);
  if (quirks === NO_QUIRKS || !Array.isArray(cleaned)) return cleaned;
  return yield* new Pace().flatMap(cleaned, (message) => [
    isJsonObject(message) ? adaptedMessage(message, quirks) : message,
  ]);
}

/**
 * The caller's messages with every call and its result in pairs: the user says a result that answers no call, and a call
 * without a result gets one that says so.
 */
function* withPairedCalls(messages: Json | undefined, report: Report): Sliced<Json | undefined> {
  if (!Array.isArray(messages)) return messages;
  const { orphans, missing } = yield* unpaired(stepsIn(messages));
  if (orphans.size === 0 && missing.size === 0) return messages;
  const pace = new Pace();
  const all: Json[] = [];
  let unanswered: JsonObject[] = [];
  const answer = () => {
    for (const call of unanswered) all.push(emptyResult(call));
    unanswered = [];
  };
  for (const [position, message] of messages.entries()) {
    if (pace.tick()) yield;
    if (!isJsonObject(message)) {
      all.push(message);
      continue;
    }
    const place = `messages[${messageIndex(messages, position)}]`;
    if (message.role !== 'tool' || orphans.has(message)) answer();
    for (const [at, call] of objectsAt(message, 'tool_calls').entries()) {
      if (pace.tick()) yield;
      if (!missing.has(call)) continue;
      report.coerced(`${place}.tool_calls[${at}]`, WITHOUT_RESULT);
      unanswered.push(call);
    }
    if (orphans.has(message)) report.coerced(place, WITHOUT_CALL);
    all.push(orphans.has(message) ? asSaid(message) : message);
  }
  answer();
  return all;
}

function* stepsIn(messages: readonly Json[]): Iterable<CallStep<JsonObject>> {
  for (const message of messages) {
    if (!isJsonObject(message)) continue;
    if (message.role === 'tool') {
      yield { kind: 'result', callId: textAt(message, 'tool_call_id') ?? '', thing: message };
      continue;
    }
    for (const call of objectsAt(message, 'tool_calls')) {
      yield { kind: 'call', callId: textAt(call, 'id') ?? '', thing: call };
    }
  }
}

function emptyResult({ id }: JsonObject): JsonObject {
  return { role: 'tool', tool_call_id: id, content: NO_RESULT };
}

function asSaid({ tool_call_id: callId, content }: JsonObject): JsonObject {
  const label = { type: 'text', text: labelOfResult(String(callId), false) };
  const said = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  return { role: 'user', content: [label, ...said] };
}

/**
 * The caller's messages without thoughts that upstreams of other dialects sealed, which the caller got through this
 * gateway. Everything else stays as it came; a list in which nothing changes is returned itself.
 */
function* withoutForeignSeals(messages: Json | undefined, report: Report): Sliced<Json | undefined> {
  if (!Array.isArray(messages)) return messages;
  const cleaned = yield* new Pace().flatMap(messages.entries(), ([position, message]) => [
    isJsonObject(message)
      ? cleanedMessage(message, `messages[${messageIndex(messages, position)}]`, report)
      : message,
  ]);
  return cleaned.some((message, position) => message !== messages[position]) ? cleaned : messages;
}

function cleanedMessage(message: JsonObject, place: string, report: Report): JsonObject {
  const foreign = foreignDetails(message);
  if (foreign.size === 0) return message;
  report.dropped(`${place}.reasoning_details`, FOREIGN_SEAL);
  for (const field of PLAIN_THOUGHTS) {
    if (textAt(message, field) !== undefined) {
      report.dropped(`${place}.${field}`, 'the text of thoughts that another model family sealed');
    }
  }
  const kept = objectsAt(message, 'reasoning_details').filter((detail) => !foreign.has(detail));
  const rest = Object.entries(message).filter(([member]) => !THOUGHTS.has(member));
  return { ...Object.fromEntries(rest), ...(kept.length > 0 && { reasoning_details: kept }) };
}

const THOUGHTS: ReadonlySet<string> = new Set([...PLAIN_THOUGHTS, 'reasoning_details']);

const NO_DETAILS: ReadonlySet<JsonObject> = new Set();

/** Details whose seal is not a chat upstream's, with all that is part of the same item. */
function foreignDetails(message: JsonObject): ReadonlySet<JsonObject> {
  const details = objectsAt(message, 'reasoning_details');
  if (details.length === 0) return NO_DETAILS;
  const isCallSeal = isSealOfCall(message);
  const items = [
    ...groupsOf(details.filter((detail) => !isCallSeal(detail))),
    ...details.filter(isCallSeal).map((detail) => [detail]),
  ];
  return new Set(items.filter((item) => item.some(isForeign)).flat());
}

/** One message in the forms that the provider takes; what it says stays the same. */
function adaptedMessage(message: JsonObject, quirks: Quirks): JsonObject {
  const { role, content, tool_calls: calls, tool_call_id: resultId } = message;
  const text = quirks.refusesTextLists && Array.isArray(content) ? joinedText(content) : undefined;
  return compact({
    ...message,
    ...(role === 'developer' && quirks.refusesDeveloperRole && { role: 'system' }),
    ...(text !== undefined && { content: text }),
    ...(Array.isArray(calls) && { tool_calls: calls.map((call) => adaptedCall(call, quirks)) }),
    ...(typeof resultId === 'string' && { tool_call_id: toolCallId(resultId, quirks) }),
    ...(role === 'assistant' && adaptedThoughts(message, quirks)),
  });
}

function adaptedCall(call: Json, quirks: Quirks): Json {
  const id = isJsonObject(call) ? call.id : undefined;
  return isJsonObject(call) && typeof id === 'string' ? { ...call, id: toolCallId(id, quirks) } : call;
}

/** The text of thoughts under the name that the provider reads. */
function adaptedThoughts(message: JsonObject, { thoughtsMember: member }: Quirks): JsonObject {
  const written = PLAIN_THOUGHTS.map((name) => textAt(message, name)).find((text) => text !== undefined);
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  if (member === undefined || (written === undefined && !hasCalls)) return {};
  return { reasoning: undefined, reasoning_content: undefined, [member]: written ?? '' };
}
