import { errorEnvelopeSchema } from '../../contract/envelopes/error-envelope.ts';
import type { ErrorStatus } from '../../contract/envelopes/error-meanings.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import type { AnyEndpoint, EndpointCall, RateClass } from '../../endpoints/endpoint.ts';
import { type KeyKind, PERMISSIONS } from '../../endpoints/permissions.ts';
import type { Json } from '../../kit/json/json.ts';
import { writeJson } from '../../kit/json/stringify-sliced.ts';
import type { Call, Route } from '../route.ts';
import { ANALYTICS_WARNING_HEADER, analyticsWarning, created, errors, ok } from './row-parts.ts';
import { withinQueryTime } from './within-query-time.ts';

export function served(endpoint: AnyEndpoint): Route {
  const { method, path, operationId, summary, tag, permission, rateClass, query, body, reply } = endpoint;
  const { status = 200, readsEvents, furtherIssues } = endpoint;
  return {
    method,
    mount: 'api',
    path,
    operationId,
    summary,
    tag,
    permission,
    rateClass,
    request: {
      query: query ?? null,
      headers: null,
      body: body ?? null,
      ...(furtherIssues && { furtherIssues }),
    },
    responses: {
      [status]: status === 201 ? created(reply) : ok(reply),
      ...errors(errorEnvelopeSchema, refusalsOf(endpoint)),
    },
    ...(readsEvents && { responseHeaders: ANALYTICS_WARNING_HEADER }),
    encodeError: encodeEnvelope,
    async handler(call) {
      const headers = readsEvents ? analyticsWarning(call) : undefined;
      const answer = await (readsEvents
        ? withinQueryTime(call, (signal) => answerOf(endpoint, call, signal))
        : answerOf(endpoint, call, call.exchange.signal));
      const writing = writeJson(answer);
      call.exchange.reply.jsonText(
        status,
        writing instanceof Promise ? await writing : writing,
        headers?.() ?? {},
      );
    },
  };
}

async function answerOf(
  endpoint: AnyEndpoint,
  { services, settings, caller, params, query, body }: Call,
  signal: AbortSignal,
): Promise<Json> {
  const call: EndpointCall = { services, settings, caller, params, query, body, signal };
  // `run-route.ts` has checked it by the schemas and the permission of this endpoint.
  return endpoint.run(call as never) as Json | Promise<Json>;
}

const REFUSALS_BY_KEY: Readonly<Record<KeyKind, readonly ErrorStatus[]>> = {
  none: [],
  optional: [],
  any: [401],
  inference: [401, 403],
  management: [401, 403],
  operator: [401, 403],
  machine: [],
};

/** Classes of which so many requests are answered in a window. */
const LIMITED: ReadonlySet<RateClass> = new Set(['files', 'analytics', 'datasets']);

function refusalsOf(endpoint: AnyEndpoint): readonly ErrorStatus[] {
  const { permission, rateClass, query, body, readsEvents, refusals = [] } = endpoint;
  return [
    500,
    ...REFUSALS_BY_KEY[PERMISSIONS[permission]],
    ...(LIMITED.has(rateClass) ? [429 as const] : []),
    ...(query === undefined ? [] : [400 as const]),
    ...(body === undefined ? [] : [400 as const, 413 as const, 415 as const]),
    ...(readsEvents ? [408 as const, 503 as const] : []),
    ...refusals,
  ];
}
