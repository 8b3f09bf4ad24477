import { GatewayError, invalidRequest } from '../ir/errors.ts';
import type { JsonObject } from '../kit/json.ts';
import { inTurn } from '../kit/turns.ts';
import type { Issue } from '../kit/validate.ts';
import type { Caller } from '../ports/caller.ts';
import { authenticate, authorize, type RouteAuth } from './authenticate.ts';
import { hasBody } from './declared-length.ts';
import type { HttpDependencies, HttpSettings, HttpTimes } from './dependencies.ts';
import type { Exchange } from './exchange.ts';
import { requireJson } from './media-type.ts';
import { parseQuery } from './parse-query.ts';
import { countRequest } from './rate-limits.ts';
import { readJsonBody } from './read-body.ts';
import { headerValues } from './request-headers.ts';
import type { ServerView } from './route.ts';
import type { CompiledRoute, RouteMatch } from './route-index.ts';
import { unavailable } from './unavailable.ts';

/** What answering one request needs besides the request. */
export interface AnswerContext {
  readonly services: HttpDependencies;
  readonly settings: HttpSettings;
  readonly times: HttpTimes;
  readonly server: ServerView;
  /** Takes a place among the generations in flight; undefined when all are taken. */
  readonly enter: (settings: HttpSettings) => (() => void) | undefined;
}

/**
 * The way of every request through its row, cheapest refusal first: key, room, head, body, schema, handler. Nothing of
 * the body is read before the caller is known and let in.
 */
export async function answer(exchange: Exchange, match: RouteMatch, context: AnswerContext): Promise<void> {
  const { route } = match.compiled;
  const auth = route.isOpen?.(context.settings) === true ? 'none' : route.auth;
  exchange.caller = await CALLERS[auth](exchange, match.compiled, context);
  const leave = route.rateClass === 'generation' ? enterOrRefuse(context) : () => {};
  try {
    await counted(exchange.caller, match.compiled, context);
    requireNameable(match.params);
    const rawQuery = new URLSearchParams(match.search);
    const query = readQuery(rawQuery, match.compiled);
    const headers = readHeaders(exchange, match.compiled);
    const body = await readBody(exchange, match.compiled, context);
    await route.handler({
      exchange,
      services: context.services,
      settings: context.settings,
      times: context.times,
      server: context.server,
      params: match.params,
      query,
      rawQuery,
      headers,
      body,
      caller: exchange.caller,
    });
  } finally {
    leave();
  }
}

type Identify = (
  exchange: Exchange,
  compiled: CompiledRoute,
  context: AnswerContext,
) => Promise<Caller | undefined> | undefined;

/** How each kind of route finds out who calls. */
const CALLERS: Readonly<Record<RouteAuth, Identify>> = {
  none: () => undefined,
  // A key that opens nothing is as good as none.
  optional: (...call) => identify(...call).catch(() => undefined),
  any: identify,
  inference: identify,
  management: identify,
};

async function identify(
  exchange: Exchange,
  { route }: CompiledRoute,
  { services }: AnswerContext,
): Promise<Caller> {
  const started = services.clock.monotonic();
  try {
    const caller = await authenticate(exchange.request.rawHeaders, services.callers);
    // Set before the kind of key is looked at: that refusal already names the account.
    exchange.caller = caller;
    authorize(route.auth, caller.key);
    return caller;
  } finally {
    exchange.timing.mark('auth', services.clock.monotonic() - started);
  }
}

/** Nothing has a name with this character in it, and not every engine can be asked for one. */
function requireNameable(params: RouteMatch['params']): void {
  for (const name in params) {
    if (params[name]?.includes('\0') === true) throw new GatewayError('not-found', 'Resource not found');
  }
}

/** Counted before the body is read, and only for those who were let in. */
function counted(
  caller: Caller | undefined,
  { route }: CompiledRoute,
  { services, settings }: AnswerContext,
): void | Promise<void> {
  if (caller === undefined) return;
  const { limiter, clock } = services;
  return countRequest(route.rateClass, caller, settings.rates, { limiter, now: () => clock.now() });
}

function enterOrRefuse({ enter, settings }: AnswerContext): () => void {
  const leave = enter(settings);
  if (leave === undefined) throw unavailable('Service temporarily unavailable: too many requests in flight');
  return leave;
}

function readQuery(rawQuery: URLSearchParams, { route, validators }: CompiledRoute): JsonObject {
  if (route.request.query === null) return {};
  const query = parseQuery(rawQuery, route.request.query);
  const issues = validators.query?.issuesOf(query) ?? [];
  if (issues.length > 0) throw invalidRequest(issues);
  return query;
}

function readHeaders(exchange: Exchange, { headerNames, validators }: CompiledRoute): Record<string, string> {
  const headers: Record<string, string> = {};
  const { rawHeaders } = exchange.request;
  for (const name of headerNames) {
    const values = headerValues(rawHeaders, name);
    if (values.length > 0) headers[name] = values.length === 1 ? (values[0] as string) : values.join(',');
  }
  const issues = validators.headers?.issuesOf(headers) ?? [];
  if (issues.length > 0) throw invalidRequest(issues);
  return headers;
}

async function readBody(
  exchange: Exchange,
  { route, validators }: CompiledRoute,
  { services, settings, times }: AnswerContext,
): Promise<JsonObject> {
  if (route.request.body === null) return {};
  const { request } = exchange;
  if (!hasBody(request)) {
    throw new GatewayError('invalid-request', 'The request body is empty: send a JSON object');
  }
  requireJson(request.header('content-type'), request.header('content-encoding'));
  exchange.invite();
  const body = await readJsonBody(exchange, { maxBytes: settings.maxBodyBytes, deadlineMs: times.bodyMs });
  const issues = await inTurn(services.clock, () => validators.body?.issuesOf(body) ?? []);
  if (issues.length === 0) return body;
  const { furtherIssues } = route.request;
  const further = furtherIssues?.(withoutMembers(body, issues), services.clock.now()) ?? [];
  throw invalidRequest([...issues, ...further]);
}

/** What is left of a body without the members that something is wrong with. */
function withoutMembers(body: JsonObject, issues: readonly Issue[]): JsonObject {
  const named = new Set(issues.map(({ path }) => /^[^.[]*/.exec(path)?.[0]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !named.has(name)));
}
