import type { TObject, TSchema } from 'typebox';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import type { Caller } from '../../ports/caller.ts';
import type { Call, Route, RouteResponse } from '../route.ts';

/** A request of which nothing but its path is read. */
export const NOTHING_DECLARED = { query: null, headers: null, body: null } as const;

/** A public catalogue page or another read that belongs to no generation format. */
export const READ = {
  method: 'GET',
  mount: 'api',
  rateClass: 'public',
  encodeError: encodeEnvelope,
} as const;

/** An operation on what an account owns. */
export const MANAGEMENT = {
  mount: 'api',
  auth: 'management',
  rateClass: 'management',
  encodeError: encodeEnvelope,
} as const;

export function withQuery(schema: TObject): Route['request'] {
  return { ...NOTHING_DECLARED, query: schema };
}

export function withBody(schema: TSchema): Route['request'] {
  return { ...NOTHING_DECLARED, body: schema };
}

/** The caller of a route that requires a key. */
export function callerOf({ caller }: Call): Caller {
  if (caller === undefined) throw new Error('this route must require a key');
  return caller;
}

/** The header of answers that are made from events, as a row declares it. */
export const ANALYTICS_WARNING_HEADER = {
  'X-Analytics-Warning':
    'Present if usage may be missing because events are being filled again after they were lost or unavailable.',
} as const;

/** The header for an answer to a question that is asked now. */
export function analyticsWarning({ services }: Call): Readonly<Record<string, string>> {
  const warning = services.analyticsWarning();
  return warning === null ? {} : { 'X-Analytics-Warning': warning };
}

/** What each error status means, in the interface description. */
const ERROR_MEANINGS = {
  400: 'Invalid request parameters or malformed input',
  401: 'Authentication missing or invalid',
  402: 'Insufficient credits or quota',
  403: 'Insufficient permissions, or a guardrail blocked the request',
  404: 'Resource does not exist, or no endpoint is left for the model',
  408: 'The gateway’s own time limit passed',
  409: 'Something else has that name, or the configuration file manages it',
  410: 'Removed',
  413: 'Request payload too large',
  415: 'The body is not of the type that the route reads, not in UTF-8, or compressed',
  422: 'Each field is valid, but not together or not for this model',
  429: 'Rate limit exceeded',
  431: 'Request headers too large',
  500: 'Unexpected server error',
  502: 'Provider failure',
  503: 'Service temporarily unavailable',
  524: 'The provider timed out',
  529: 'The provider is overloaded',
} as const;

/** Statuses that refuse. */
export type ErrorStatus = keyof typeof ERROR_MEANINGS;

/** What was made. */
export function created(schema: TSchema): RouteResponse {
  return { description: 'Created', content: { 'application/json': schema } };
}

/** What was asked for. */
export function ok(schema: TSchema): RouteResponse {
  return { description: 'OK', content: { 'application/json': schema } };
}

/** The refusals of a route. */
export function errors(schema: TSchema, statuses: readonly ErrorStatus[]): Record<number, RouteResponse> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: ERROR_MEANINGS[status], content: { 'application/json': schema } },
    ]),
  );
}

/** Refusals of every management operation, and others. */
export function managementRefusals(...others: readonly ErrorStatus[]): Record<number, RouteResponse> {
  return errors(errorEnvelopeSchema, [401, 403, 500, ...others]);
}
