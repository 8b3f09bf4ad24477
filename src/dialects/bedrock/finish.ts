import { GatewayError } from '../../ir/errors.ts';
import type { Failure, Finish, FinishReason } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { objectAt, stringAt } from '../../kit/json/members.ts';

/** Finish reasons. */

// --- From the upstream ----------------------------------------------------------------------------------------------

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['guardrail_intervened', 'content-filter'],
  ['content_filtered', 'content-filter'],
  ['refusal', 'refusal'],
]);

/** Stop reasons that mean a failure, with their messages. */
const FAILURE_REASONS: ReadonlyMap<string, string> = new Map([
  ['malformed_model_output', 'The model wrote an answer that the provider cannot read'],
  ['malformed_tool_use', 'The model wrote a tool call that the provider cannot read'],
]);

/** The reason for a native word; an unknown word is an ordinary end. */
export function reasonOf(stopReason: string | undefined): FinishReason {
  return REASONS.get(stopReason ?? '') ?? 'stop';
}

/**
 * The end of an answer, from the event or body with its stop reason. `tool_use` counts only if the answer has calls.
 */
export function readFinish(
  stop: JsonObject,
  serviceTier: string | undefined,
  hasCalls: boolean,
): Finish | Failure {
  const nativeReason = stringAt(stop, 'stopReason');
  const malformed = FAILURE_REASONS.get(nativeReason ?? '');
  if (malformed !== undefined) {
    return { type: 'failure', error: new GatewayError('upstream-unavailable', malformed) };
  }
  const reason = reasonOf(nativeReason);
  const stopSequence = nativeReason === 'stop_sequence' ? stopSequenceIn(stop) : undefined;
  return {
    type: 'finish',
    reason: reason === 'tool-calls' && !hasCalls ? 'stop' : reason,
    ...(nativeReason !== undefined && { nativeReason }),
    ...(stopSequence !== undefined && { stopSequence }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}

/** The stop sequence. The request asks for it by its path, and the answer has it at that path. */
function stopSequenceIn(stop: JsonObject): string | undefined {
  const fields = objectAt(stop, 'additionalModelResponseFields');
  return stringAt(objectAt(fields, 'delta'), 'stop_sequence') ?? stringAt(fields, 'stop_sequence');
}
