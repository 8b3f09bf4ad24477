import type { TSchema } from 'typebox';
import { ERROR_MEANINGS, type ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import type { Call, RouteResponse } from '../route.ts';

/** A request of which nothing but its path is read. */
export const NOTHING_DECLARED = { query: null, headers: null, body: null } as const;

/** A public catalogue page or another read that belongs to no generation format. */
export const READ = {
  method: 'GET',
  mount: 'api',
  rateClass: 'public',
  encodeError: encodeEnvelope,
} as const;

/** The header of answers that are made from events, as a row declares it. */
export const ANALYTICS_WARNING_HEADER = {
  'X-Analytics-Warning':
    'Present if usage may be missing because events are being filled again after they were lost or unavailable.',
} as const;

/**
 * Call it before a question is asked, and the result for the header of the answer. Events may be found lost, or may be
 * complete again, while they are asked.
 */
export function analyticsWarning({ services }: Call): () => Readonly<Record<string, string>> {
  const before = services.analyticsWarning();
  return (): Readonly<Record<string, string>> => {
    const warning = before ?? services.analyticsWarning();
    return warning === null ? {} : { 'X-Analytics-Warning': warning };
  };
}

export function created(schema: TSchema): RouteResponse {
  return { description: 'Created', content: { 'application/json': schema } };
}

export function ok(schema: TSchema): RouteResponse {
  return { description: 'OK', content: { 'application/json': schema } };
}

export function errors(schema: TSchema, statuses: readonly ErrorStatus[]): Record<number, RouteResponse> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: ERROR_MEANINGS[status][0], content: { 'application/json': schema } },
    ]),
  );
}
