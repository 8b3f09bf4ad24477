import type { TObject, TSchema } from 'typebox';
import { deletedSchema } from '../../contract/envelopes/deleted.ts';
import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import { ERROR_MEANINGS, type ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
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

/** The account of the caller, and the id in the path. */
export function placeOf(call: Call): [accountId: string, id: string] {
  return [callerOf(call).accountId, call.params.id ?? ''];
}

/** The same for ids that are UUIDs, in lower case as they are stored. */
export function uuidPlaceOf(call: Call): [accountId: string, id: string] {
  const [accountId, id] = placeOf(call);
  return [accountId, id.toLowerCase()];
}

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

/** The response with a new object. */
export function created(schema: TSchema): RouteResponse {
  return { description: 'Created', content: { 'application/json': schema } };
}

/** The response with the requested object. */
export function ok(schema: TSchema): RouteResponse {
  return { description: 'OK', content: { 'application/json': schema } };
}

/** The refusals of a route. */
export function errors(schema: TSchema, statuses: readonly ErrorStatus[]): Record<number, RouteResponse> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: ERROR_MEANINGS[status][0], content: { 'application/json': schema } },
    ]),
  );
}

/** Refusals of every management operation, and others. */
export function managementRefusals(...others: readonly ErrorStatus[]): Record<number, RouteResponse> {
  return errors(errorEnvelopeSchema, [401, 403, 500, ...others]);
}

/** Common members of rows that show one object. */
export function retrieval<T extends object>(
  schema: TSchema,
  read: (call: Call) => Promise<T>,
  ...refusals: readonly ErrorStatus[]
): Pick<Route, 'method' | 'request' | 'responses' | 'handler'> {
  return {
    method: 'GET',
    request: NOTHING_DECLARED,
    responses: { 200: ok(schema), ...managementRefusals(...refusals) },
    handler: async (call) => call.exchange.reply.json(200, { data: await read(call) }),
  };
}

/** Common members of rows that delete something. */
export function deletion(
  remove: (call: Call) => Promise<void>,
  ...refusals: readonly ErrorStatus[]
): Pick<Route, 'method' | 'request' | 'responses' | 'handler'> {
  return {
    method: 'DELETE',
    request: NOTHING_DECLARED,
    responses: { 200: ok(deletedSchema), ...managementRefusals(...refusals) },
    handler: async (call) => {
      await remove(call);
      call.exchange.reply.json(200, { deleted: true });
    },
  };
}
