import { GatewayError } from '../../ir/errors.ts';
import type { Failure, Finish, FinishReason } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { cleanMessage } from '../shared/answers/reported-failure.ts';

/** Finish reasons. */

// --- From the upstream ----------------------------------------------------------------------------------------------

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  // The upstream's own limit for one request: the answer is cut, although the caller's limit is not reached.
  ['CONTINUATION', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['LANGUAGE', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['IMAGE_SAFETY', 'content-filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content-filter'],
  ['IMAGE_RECITATION', 'content-filter'],
]);

const FAILURE_REASONS: ReadonlyMap<string, string> = new Map([
  ['MALFORMED_FUNCTION_CALL', 'The model wrote a tool call that cannot be read'],
  ['UNEXPECTED_TOOL_CALL', 'The model called a tool that it was not offered'],
  ['TOO_MANY_TOOL_CALLS', 'The model made too many tool calls in a row'],
  ['MISSING_THOUGHT_SIGNATURE', 'The provider misses a thought signature in the conversation'],
  ['MALFORMED_RESPONSE', 'The model wrote an answer that cannot be read'],
]);

/** Content of the answer, which tells more about the end than the upstream's word. */
export interface AnswerContents {
  readonly hasCalls: boolean;
  readonly isEmpty: boolean;
}

export interface AnnouncedEnd {
  readonly word: string | undefined;
  readonly message: string | undefined;
  readonly serviceTier: string | undefined;
}

export function readFinish(
  { word, message, serviceTier }: AnnouncedEnd,
  { hasCalls, isEmpty }: AnswerContents,
): Finish | Failure {
  const failure = word === undefined ? undefined : FAILURE_REASONS.get(word);
  if (failure !== undefined) return failed(failure);
  const known = word === undefined ? 'stop' : REASONS.get(word);
  // An unknown word is an ordinary end if there is content.
  if (known === undefined && isEmpty) return failed(`The provider stopped without an answer (${word})`);
  const reason = known ?? 'stop';
  return {
    type: 'finish',
    reason: reason === 'stop' && hasCalls ? 'tool-calls' : reason,
    ...(word !== undefined && { nativeReason: word }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(reason === 'content-filter' && word !== undefined && { category: word.toLowerCase() }),
    ...(reason === 'content-filter' && message !== undefined && { explanation: cleanMessage(message) }),
  };
}

/** The end of an answer to a refused prompt; undefined if the prompt was not refused. */
export function readBlock(feedback: JsonObject | undefined): Finish | undefined {
  const word = textAt(feedback, 'blockReason');
  if (word === undefined) return undefined;
  const message = textAt(feedback, 'blockReasonMessage');
  return {
    type: 'finish',
    reason: 'refusal',
    nativeReason: word,
    category: word.toLowerCase(),
    explanation: cleanMessage(message ?? `The provider refused the prompt (${word}).`),
  };
}

function failed(message: string): Failure {
  return { type: 'failure', error: new GatewayError('upstream-unavailable', cleanMessage(message)) };
}
