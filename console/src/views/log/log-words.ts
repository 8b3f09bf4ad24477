import type { ShownGeneration } from './shown-generation.ts';

/** The mark of a state and what it is called. State is never colour alone: the marks differ in form. */
export const STATES: Readonly<
  Record<ShownGeneration['state'], { readonly dot: string; readonly text: string }>
> = {
  answered: { dot: 'ok', text: 'answered' },
  fallback: { dot: 'warn', text: 'answered after a fallback' },
  failed: { dot: 'bad', text: 'failed' },
  cancelled: { dot: 'off', text: 'cancelled: the caller left' },
  refused: { dot: 'refused', text: 'refused before any provider was called' },
  running: { dot: 'run', text: 'running' },
};

const ERRORS: Readonly<Record<string, string>> = {
  authentication: 'key refused',
  content_policy_violation: 'content refused',
  context_length_exceeded: 'prompt too long',
  invalid_request: 'invalid request',
  not_found: 'not found',
  payload_too_large: 'too large',
  payment_required: 'limit used up',
  permission_denied: 'blocked',
  provider_overloaded: 'overloaded',
  provider_unavailable: 'upstream failed',
  rate_limit_exceeded: 'rate limited',
  server: 'gateway error',
  timeout: 'timed out',
  unprocessable: 'not processable',
};

/** What a caller got for a failure, such as `429 rate limited`. */
export function errorText(status: number | null, type: string | null): string {
  const words = type === null ? 'failed' : (ERRORS[type] ?? type);
  return status === null ? words : `${status} ${words}`;
}

/** The parts of a model's id: the author is shown quieter. */
export function modelParts(id: string): { readonly author: string; readonly name: string } {
  const end = id.indexOf('/') + 1;
  return { author: id.slice(0, end), name: id.slice(end) };
}
