import type { ErrorKind, GatewayError } from '../ir/errors.ts';
import { stringAt } from '../kit/json/members.ts';

/** Why a model has said nothing. Problems are shown to those who manage the classifier. */
export type FailedAsk =
  /** A retry does not help. */
  | { readonly kind: 'lost'; readonly problem: string }
  /** It may answer later. */
  | { readonly kind: 'waits'; readonly problem: string; readonly retryAfterMs: number | undefined }
  /** Its monthly budget, or that of the run, does not pay for it. */
  | { readonly kind: 'over-budget'; readonly isOfRun: boolean; readonly problem: string };

/** Kinds of errors that are the fault of what was sent. */
const LOST: ReadonlySet<ErrorKind> = new Set([
  'invalid-request',
  'context-length',
  'content-policy',
  'payload-too-large',
  'unprocessable',
  'permission',
]);

export function failureOf(error: GatewayError): FailedAsk {
  const source = stringAt(error.metadata, 'limit_source');
  if (source === 'key') {
    return {
      kind: 'over-budget',
      isOfRun: false,
      problem: 'what is left of the monthly budget does not pay for it',
    };
  }
  // Refusals by the budget of a guardrail name it.
  if (source === 'guardrail' && error.metadata?.guardrail_id === null) {
    return {
      kind: 'over-budget',
      isOfRun: true,
      problem: 'what is left of the budget of the run does not pay for it',
    };
  }
  if (source === undefined && LOST.has(error.kind)) return { kind: 'lost', problem: error.message };
  const { retryAfterSeconds } = error;
  return {
    kind: 'waits',
    problem: error.message,
    retryAfterMs: retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000,
  };
}
