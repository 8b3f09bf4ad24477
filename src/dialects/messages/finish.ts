import type { Finish, FinishReason } from '../../ir/events.ts';
import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';

/** Finish reasons in both directions; this format says stop reason. */

// --- From the upstream ----------------------------------------------------------------------------------------------

const REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['compaction', 'compaction'],
]);

/** Members of `stop_details` that the representation has. */
const REFUSAL_FIELDS: ReadonlySet<string> = new Set(['type', 'category', 'explanation']);

/** The reason for a native word; an unknown word is an ordinary end. */
export function reasonOf(stopReason: unknown): FinishReason {
  return REASONS.get(stopReason) ?? 'stop';
}

/**
 * Reads the `delta` of message_delta, or the same fields of a whole message. `extras`: members that only this dialect
 * has. A native word is one of them if our own word does not map back to it.
 */
export function readFinish(delta: JsonObject, extras: JsonObject, serviceTier: string | undefined): Finish {
  const native = typeof delta.stop_reason === 'string' ? delta.stop_reason : undefined;
  const reason = reasonOf(native);
  const stopSequence = typeof delta.stop_sequence === 'string' ? delta.stop_sequence : undefined;
  const details = isJsonObject(delta.stop_details) ? delta.stop_details : {};
  const isCanonical =
    native === undefined || native === wordOf(reason, native === 'stop_sequence' ? stopSequence : undefined);
  const messages: JsonObject = {
    ...extras,
    ...(!isCanonical && { stop_reason: native }),
    ...(isJsonObject(delta.container) && { container: delta.container }),
    ...(delta.safeguard_results !== undefined && { safeguard_results: delta.safeguard_results }),
    ...(Object.keys(details).some((name) => !REFUSAL_FIELDS.has(name)) && { stop_details: details }),
  };
  return {
    type: 'finish',
    reason,
    ...(native !== undefined && { nativeReason: native }),
    ...(stopSequence !== undefined && native === 'stop_sequence' && { stopSequence }),
    ...(typeof details.category === 'string' && { category: details.category }),
    ...(typeof details.explanation === 'string' && { explanation: details.explanation }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(Object.keys(messages).length > 0 && { ext: { messages } }),
  };
}

// --- For the caller -------------------------------------------------------------------------------------------------

/** The caller's words. */
const WORDS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
  compaction: 'compaction',
  budget: 'pause_turn',
};

/** Content of the answer, as far as it affects the stop reason. */
export interface AnswerContents {
  readonly hasCalls: boolean;
  /** Text of the refusal; empty = none. */
  readonly refusal: string;
}

/** The stop fields of a message. A tool call overrides a plain end; so does a refusal. */
export function renderFinish(finish: Finish, contents: AnswerContents): JsonObject {
  const native = finish.ext?.messages ?? {};
  const reason = meantReason(finish, contents);
  const word = typeof native.stop_reason === 'string' ? native.stop_reason : undefined;
  const stopReason = word ?? wordOf(reason, finish.stopSequence);
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === 'stop_sequence' ? (finish.stopSequence ?? null) : null,
    stop_details: native.stop_details ?? (stopReason === 'refusal' ? refusalDetails(finish, contents) : null),
    container: native.container ?? null,
    ...(native.safeguard_results !== undefined && { safeguard_results: native.safeguard_results }),
  };
}

/**
 * The stop fields of a message from an upstream of this dialect: its own words, else their meaning. The same in
 * streams and whole bodies.
 */
export function relayFinish(written: JsonObject, finish: Finish, contents: AnswerContents): JsonObject {
  const rendered = renderFinish(finish, contents);
  return Object.fromEntries(
    Object.entries(rendered).map(([name, value]) => [name, written[name] ?? value ?? null]),
  );
}

function meantReason(finish: Finish, contents: AnswerContents): FinishReason {
  if (finish.reason !== 'stop') return finish.reason;
  if (contents.hasCalls) return 'tool-calls';
  return contents.refusal === '' ? 'stop' : 'refusal';
}

function wordOf(reason: FinishReason, stopSequence: string | undefined): string {
  return reason === 'stop' && stopSequence !== undefined ? 'stop_sequence' : WORDS[reason];
}

function refusalDetails(finish: Finish, contents: AnswerContents): JsonObject {
  return {
    type: 'refusal',
    category: finish.category ?? null,
    explanation: finish.explanation ?? (contents.refusal === '' ? null : contents.refusal),
  };
}
