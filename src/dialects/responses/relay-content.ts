import type { Quirks } from '../../ir/quirks.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { objectsOf, stringAt } from '../../kit/json/members.ts';
import {
  type CallStep,
  labelOfResult,
  NO_RESULT,
  type Pairing,
  pairingOf,
  WITHOUT_CALL,
  WITHOUT_RESULT,
} from '../shared/pairing/pair-calls.ts';
import type { Report } from '../shared/report/report.ts';
import { patchedCalls, replayedCall } from './parse-calls.ts';
import { approvedRequest, inputPlace, parseThoughts } from './parse-content.ts';
import { type ItemSpot, renderItem, roleFor } from './render-content.ts';
import { changeEach, cleanItem, cleanTool, withoutMembers } from './render-losses.ts';
import { ownSummary } from './summary.ts';
import { isOperatorItem } from './wire-content.ts';

/**
 * Necessary changes to the caller's own `input` and `tools` for an upstream of this dialect. Everything else stays
 * unchanged; unchanged lists are returned themselves.
 */

// --- Conversation ---------------------------------------------------------------------------------------------------

/**
 * The input without the gateway's own items, members and marks, without seals of other families, and with every call
 * and its result in pairs.
 */
export function relayInput(body: JsonObject, report: Report, quirks?: Quirks): Json | undefined {
  const { orphans, missing, newIds } = pairingIn(callersItems(body, quirks));
  let unanswered: JsonObject[] = [];
  const answers = () => {
    const results = unanswered.map(emptyResult);
    unanswered = [];
    return results;
  };
  const patched = patchedCalls(objectsOf(body.input));
  const input = changeEach(body.input, (item, index) => {
    const place = inputPlace(body, index);
    const results = isOfTurn(item) ? [] : answers();
    const newId = newIds.get(item);
    const named = newId === undefined ? item : { ...item, call_id: newId };
    if (missing.has(item)) {
      report.coerced(place, WITHOUT_RESULT);
      unanswered.push(named);
    }
    const given = orphans.has(item) ? asSaid(item, place, report) : named;
    const sent = relayItem(given, { place, report, quirks }, patched);
    return results.length === 0 ? sent : [...results, ...(sent === undefined ? [] : [sent].flat())];
  });
  const last = answers();
  return last.length === 0 || !Array.isArray(input) ? input : [...input, ...last];
}

/** True for an item of a model's turn: results follow after all of it. */
function isOfTurn(item: JsonObject): boolean {
  const type = typeOf(item);
  return type === 'message' ? item.role === 'assistant' : lookUp(KINDS, type) !== 'result';
}

function typeOf(item: JsonObject): string {
  return stringAt(item, 'type') ?? 'message';
}

// --- Calls and results ----------------------------------------------------------------------------------------------

function emptyResult({ type, call_id }: JsonObject): JsonObject {
  return { type: `${String(type)}_output`, call_id, output: NO_RESULT };
}

/** Items that stand for compacted turns: the calls of later results may be among them. */
const COMPACTIONS: ReadonlySet<string> = new Set(['compaction', 'context_compaction']);

const KINDS: Readonly<Record<string, CallStep<JsonObject>['kind']>> = {
  function_call: 'call',
  custom_tool_call: 'call',
  function_call_output: 'result',
  custom_tool_call_output: 'result',
};

/** The input without calls of tools that the provider ran: they have no results. */
function callersItems(body: JsonObject, quirks: Quirks | undefined): readonly JsonObject[] {
  const items = objectsOf(body.input);
  if (quirks?.showsOwnCallsAsCustom !== true) return items;
  const declared = new Set(objectsOf(body.tools).map((tool) => tool.name));
  const answered = new Set(
    items.filter((item) => lookUp(KINDS, typeOf(item)) === 'result').map((item) => item.call_id),
  );
  return items.filter(
    (item) =>
      item.type !== 'custom_tool_call' ||
      declared.has(item.name ?? null) ||
      answered.has(item.call_id ?? null),
  );
}

function pairingIn(items: readonly JsonObject[]): Pairing<JsonObject> {
  const isCompacted = items.some((item) => COMPACTIONS.has(typeOf(item)) && ownSummary(item) === undefined);
  return pairingOf(isCompacted ? [] : stepsIn(items));
}

function* stepsIn(items: readonly JsonObject[]): Iterable<CallStep<JsonObject>> {
  let turn = 0;
  for (const item of items) {
    if (!isOfTurn(item)) turn++;
    const kind = lookUp(KINDS, typeOf(item));
    if (kind !== undefined) yield { kind, callId: stringAt(item, 'call_id') ?? '', thing: item, turn };
  }
}

function asSaid({ call_id: callId, output }: JsonObject, place: string, report: Report): JsonObject {
  report.coerced(place, WITHOUT_CALL);
  const said = Array.isArray(output) ? output : [{ type: 'input_text', text: output ?? '' }];
  const label = { type: 'input_text', text: labelOfResult(String(callId), false) };
  return { type: 'message', role: 'user', content: [label, ...said] };
}

// --- Traces of this gateway in earlier turns ------------------------------------------------------------------------

function relayItem(
  item: JsonObject,
  spot: ItemSpot,
  patched: ReadonlySet<string>,
): JsonObject | JsonObject[] | undefined {
  const { place, report } = spot;
  const type = typeOf(item);
  const replayed = replayedCall(item, patched)?.flatMap((each): JsonObject[] => {
    const rendered = renderItem(each, spot);
    return rendered === undefined ? [] : [rendered];
  });
  if (replayed !== undefined) return replayed;
  const approved = approvedRequest(item) ?? ownSummary(item);
  if (approved !== undefined) return [...approved];
  if (isOperatorItem(type)) {
    report.dropped(place, `the upstream has no place for ${type}`);
    return undefined;
  }
  if (type === 'reasoning') return relayReasoning(item, spot);
  if (type === 'message') return relayMessage(item, spot);
  return lookUp(KINDS, type) === 'call'
    ? withoutMembers(item, ['signature'], place, report)
    : cleanItem(item, place, report);
}

function relayMessage(item: JsonObject, { place, report, quirks }: ItemSpot): JsonObject | undefined {
  const role = roleFor(item.role, quirks);
  const taken = role === item.role || role === undefined ? item : { ...item, role };
  return cleanItem(listsFor(taken, ['content']), place, report);
}

/** The item with empty lists for nulls, which the format allows and upstreams refuse. */
function listsFor(item: JsonObject, names: readonly string[]): JsonObject {
  const nulls = names.filter((name) => item[name] === null);
  return nulls.length === 0 ? item : { ...item, ...Object.fromEntries(nulls.map((name) => [name, []])) };
}

/** Members of reasoning items that upstreams of this dialect do not know. */
const GATEWAY_REASONING_MEMBERS = ['signature', 'format'];

function relayReasoning(item: JsonObject, spot: ItemSpot): JsonObject | undefined {
  if (
    item.encrypted_content === undefined &&
    !GATEWAY_REASONING_MEMBERS.some((name) => Object.hasOwn(item, name))
  ) {
    return isEmptyReasoning(item) ? dropEmpty(spot) : listsFor(item, ['summary', 'content']);
  }
  return renderItem(parseThoughts(item), spot);
}

/** True if only the id is left, which an upstream that stores nothing would not find. */
function isEmptyReasoning({ summary, content }: JsonObject): boolean {
  return objectsOf(summary).length === 0 && objectsOf(content).length === 0;
}

function dropEmpty({ place, report }: ItemSpot): undefined {
  report.dropped(place, 'has neither words nor a seal');
}

// --- Tools ----------------------------------------------------------------------------------------------------------

/** The tools without members that only the gateway knows. */
export function relayTools(tools: Json | undefined, report: Report): Json | undefined {
  return changeEach(tools ?? undefined, (tool, index) => cleanTool(tool, `tools[${index}]`, report));
}
