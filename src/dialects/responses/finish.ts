import type { Finish, FinishReason } from '../../ir/events.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, stringAt } from '../../kit/json/members.ts';

/** Finish reasons in both directions. */

// --- From the upstream ----------------------------------------------------------------------------------------------

/** Content of the answer: a completed one does not name its reason. */
export interface AnswerContents {
  readonly hasCalls: boolean;
  readonly hasRefusal: boolean;
}

/** The end of a response object with status `completed` or `incomplete`. */
export function readFinish(response: JsonObject, status: string, contents: AnswerContents): Finish {
  const nativeReason = stringAt(objectAt(response, 'incomplete_details') ?? {}, 'reason') ?? status;
  return compact({
    type: 'finish',
    reason: reasonOf(status, nativeReason, contents),
    nativeReason,
    serviceTier: stringAt(response, 'service_tier'),
  });
}

function reasonOf(status: string, nativeReason: string, contents: AnswerContents): FinishReason {
  if (status === 'incomplete') return nativeReason === 'content_filter' ? 'content-filter' : 'length';
  if (contents.hasCalls) return 'tool-calls';
  return contents.hasRefusal ? 'refusal' : 'stop';
}

// --- For the caller -------------------------------------------------------------------------------------------------

/** The caller's words; an answer without one is complete. */
const WORDS: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'max_output_tokens',
  'content-filter': 'content_filter',
  pause: 'max_output_tokens',
  budget: 'max_output_tokens',
};

/** The members of a response object for its end. */
export function renderFinish({ reason }: Pick<Finish, 'reason'>): {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
} {
  const incomplete = WORDS[reason];
  return incomplete === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason: incomplete } };
}
