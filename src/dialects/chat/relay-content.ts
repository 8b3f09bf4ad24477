import { NO_QUIRKS, type Quirks } from '../../ir/quirks.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, objectsAt, stringAt, textAt } from '../../kit/json/members.ts';
import type { RenderTarget } from '../dialect.ts';
import {
  type CallStep,
  LATE_RESULT,
  labelOfResult,
  NO_RESULT,
  pairingOf,
  ResultSequence,
  WITHOUT_CALL,
  WITHOUT_RESULT,
} from '../shared/pairing/pair-calls.ts';
import { messageIndex } from '../shared/presets/preset-message.ts';
import type { Report } from '../shared/report/report.ts';
import { withEach } from '../shared/requests/with-each.ts';
import { jsonArguments } from '../shared/tools/call-input.ts';
import { withKeptMessages } from './kept-calls.ts';
import { toolCallId } from './quirks.ts';
import { groupsOf, isForeign, isSealOfCall, PLAIN_THOUGHTS } from './reasoning.ts';
import { FOREIGN_SEAL } from './render-losses.ts';
import { joinedText } from './render-parts.ts';

// --- Conversation ---------------------------------------------------------------------------------------------------

const MESSAGE_QUIRKS = [
  'refusesDeveloperRole',
  'refusesTextLists',
  'toolCallIds',
  'thoughtsMember',
] as const satisfies readonly (keyof Quirks)[];

/** True if the messages need no inspection: no quirk changes messages, and there are no calls or thoughts. */
export function arePlain(messages: Json | undefined, { quirks = NO_QUIRKS }: RenderTarget): boolean {
  if (!Array.isArray(messages)) return true;
  return !changesMessages(quirks) && !messages.some((message) => isOfCall(message) || hasDetails(message));
}

/** The caller's messages as the provider accepts them. Returns the same list if nothing changes. */
export function relayMessages(
  messages: Json | undefined,
  { quirks = NO_QUIRKS }: RenderTarget,
  report: Report,
): Json | undefined {
  const unsealed = withoutForeignSeals(withKeptMessages(messages), report);
  const cleaned = withPairedCalls(withJsonArguments(unsealed, report), report);
  if (!changesMessages(quirks) || !Array.isArray(cleaned)) return cleaned;
  return withEach({ messages: cleaned }, 'messages', (message) => adaptedMessage(message, quirks)).messages;
}

function changesMessages(quirks: Quirks): boolean {
  return MESSAGE_QUIRKS.some((quirk) => quirks[quirk] !== undefined);
}

// --- Calls and results ----------------------------------------------------------------------------------------------

/**
 * The caller's messages with each result right after its call. An orphan result becomes user text, a call without a
 * result gets one that says so, and a late result is moved. Returns the same list if nothing changes.
 */
function withPairedCalls(messages: Json | undefined, report: Report): Json | undefined {
  if (!Array.isArray(messages) || !messages.some(isOfCall)) return messages;
  const places = new Map<JsonObject, string>();
  const { orphans, results, newIds } = pairingOf(stepsIn(messages, places));
  const all: Json[] = [];
  const sequence = new ResultSequence(results);
  const answer = () => {
    for (const { call, result } of sequence.rest()) {
      report.coerced(places.get(result ?? call) ?? 'messages', result ? LATE_RESULT : WITHOUT_RESULT);
      all.push(result === undefined ? emptyResult(call, newIds) : withNewIds(result, newIds));
    }
  };
  for (const message of messages) {
    if (!isJsonObject(message)) {
      all.push(message);
      continue;
    }
    const isOrphan = orphans.has(message);
    if (message.role === 'tool' && !isOrphan) {
      if (sequence.takesResult(message)) all.push(withNewIds(message, newIds));
      continue;
    }
    answer();
    for (const call of objectsAt(message, 'tool_calls')) {
      sequence.addCall(call);
    }
    if (isOrphan) report.coerced(places.get(message) ?? 'messages', WITHOUT_CALL);
    all.push(isOrphan ? asSaid(message) : withNewIds(message, newIds));
  }
  answer();
  const isSame = all.length === messages.length && all.every((message, at) => message === messages[at]);
  return isSame ? messages : all;
}

/** The caller's messages with arguments that are JSON objects. Returns the same list if nothing changes. */
function withJsonArguments(messages: Json | undefined, report: Report): Json | undefined {
  if (!Array.isArray(messages) || !messages.some(isOfCall)) return messages;
  return withEach({ messages }, 'messages', (message, turn) =>
    withEach(message, 'tool_calls', (call, at) => {
      const called = objectAt(call, 'function');
      const text = stringAt(called, 'arguments');
      if (text === undefined) return call;
      const written = jsonArguments(text, (detail) => {
        const place = `messages[${messageIndex(messages, turn)}].tool_calls[${at}].function.arguments`;
        report.coerced(place, detail);
      });
      return written === text ? call : { ...call, function: { ...called, arguments: written } };
    }),
  ).messages;
}

function isOfCall(message: Json): boolean {
  return isJsonObject(message) && (message.role === 'tool' || Array.isArray(message.tool_calls));
}

/** Calls and results in order; notes the path of each in the caller's list. */
function* stepsIn(
  messages: readonly Json[],
  places: Map<JsonObject, string>,
): Iterable<CallStep<JsonObject>> {
  for (const [turn, message] of messages.entries()) {
    if (!isJsonObject(message)) continue;
    const place = `messages[${messageIndex(messages, turn)}]`;
    if (message.role === 'tool') {
      places.set(message, place);
      yield { kind: 'result', callId: textAt(message, 'tool_call_id') ?? '', thing: message, turn };
      continue;
    }
    for (const [at, call] of objectsAt(message, 'tool_calls').entries()) {
      places.set(call, `${place}.tool_calls[${at}]`);
      yield { kind: 'call', callId: textAt(call, 'id') ?? '', thing: call, turn };
    }
  }
}

function withNewIds(message: JsonObject, newIds: ReadonlyMap<JsonObject, string>): JsonObject {
  const resultId = newIds.get(message);
  if (resultId !== undefined) return { ...message, tool_call_id: resultId };
  const calls = objectsAt(message, 'tool_calls');
  if (!calls.some((call) => newIds.has(call))) return message;
  return { ...message, tool_calls: calls.map((call) => ({ ...call, id: newIds.get(call) ?? call.id })) };
}

function emptyResult(call: JsonObject, newIds: ReadonlyMap<JsonObject, string>): JsonObject {
  return { role: 'tool', tool_call_id: newIds.get(call) ?? call.id, content: NO_RESULT };
}

function asSaid({ tool_call_id: callId, content }: JsonObject): JsonObject {
  const label = { type: 'text', text: labelOfResult(String(callId), false) };
  const said = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  return { role: 'user', content: [label, ...said] };
}

// --- Traces of this gateway in earlier turns ------------------------------------------------------------------------

/**
 * The caller's messages without thoughts that upstreams of other dialects sealed, and that the caller got through this
 * gateway. Everything else stays unchanged. Returns the same list if nothing changes.
 */
function withoutForeignSeals(messages: Json | undefined, report: Report): Json | undefined {
  if (!Array.isArray(messages) || !messages.some(hasDetails)) return messages;
  const cleaned = [...messages.entries()].flatMap(([position, message]) => [
    isJsonObject(message)
      ? cleanedMessage(message, `messages[${messageIndex(messages, position)}]`, report)
      : message,
  ]);
  return cleaned.some((message, position) => message !== messages[position]) ? cleaned : messages;
}

function hasDetails(message: Json): boolean {
  return isJsonObject(message) && Array.isArray(message.reasoning_details);
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

/** Details with a seal of another dialect's upstream, and all other entries of the same item. */
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

// --- Quirks ---------------------------------------------------------------------------------------------------------

/** One message in the provider's form, with the same meaning. Returns the same object if nothing changes. */
function adaptedMessage(message: JsonObject, quirks: Quirks): JsonObject {
  const { role, content, tool_call_id: resultId } = message;
  const text = quirks.refusesTextLists && Array.isArray(content) ? joinedText(content) : undefined;
  const changes: JsonObject = {
    ...(role === 'developer' && quirks.refusesDeveloperRole && { role: 'system' }),
    ...(text !== undefined && { content: text }),
    ...(typeof resultId === 'string' && { tool_call_id: toolCallId(resultId, quirks) }),
    ...(role === 'assistant' && adaptedThoughts(message, quirks)),
  };
  const called = withEach(message, 'tool_calls', (call) => adaptedCall(call, quirks));
  const isChanged = Object.keys(changes).some((name) => changes[name] !== message[name]);
  return isChanged ? compact({ ...called, ...changes }) : called;
}

function adaptedCall(call: JsonObject, quirks: Quirks): JsonObject {
  const id = typeof call.id === 'string' ? toolCallId(call.id, quirks) : call.id;
  return id === call.id ? call : { ...call, id };
}

/** The text of thoughts under the provider's name. */
function adaptedThoughts(message: JsonObject, { thoughtsMember: member }: Quirks): JsonObject {
  const written = PLAIN_THOUGHTS.map((name) => textAt(message, name)).find((text) => text !== undefined);
  const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  if (member === undefined || (written === undefined && !hasCalls)) return {};
  return { reasoning: undefined, reasoning_content: undefined, [member]: written ?? '' };
}
