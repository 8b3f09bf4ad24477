import { type KeyKind, PERMISSIONS, requirePermission } from '../../endpoints/permissions.ts';
import { GatewayError, invalidRequest } from '../../ir/errors.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { type Issue, MAX_ISSUES } from '../../kit/json/validate.ts';
import { BATCH_POINT } from '../../kit/loop/cohort.ts';
import type { MemoryBudget } from '../../kit/loop/memory-budget.ts';
import { inTurn } from '../../kit/loop/turns.ts';
import { clientAddressOf } from '../../kit/net/client-address.ts';
import type { Caller } from '../../ports/tenancy/caller.ts';
import { authenticate, secretBeginningOf } from '../access/authenticate.ts';
import { countRequest } from '../access/rate-limits.ts';
import type { SignInAttempts } from '../access/sign-in-attempts.ts';
import type { HttpDependencies, HttpSettings, HttpTimes } from '../dependencies.ts';
import type { HttpExchange } from '../exchange/http-exchange.ts';
import { unavailable } from '../exchange/unavailable.ts';
import { BodyMemory } from '../request/body-memory.ts';
import { requireJson } from '../request/media-type.ts';
import { parseQuery } from '../request/parse-query.ts';
import { readJsonBody, UnreadableBody } from '../request/read-body.ts';
import { refuseUnknownParameters } from '../request/unknown-parameters.ts';
import type { ServerView } from '../route.ts';
import type { CompiledRoute, RouteMatch } from './route-index.ts';

export interface RouteContext {
  readonly services: HttpDependencies;
  readonly settings: HttpSettings;
  readonly times: HttpTimes;
  readonly server: ServerView;
  /** Counts a generation as in flight; returns the function that ends that, or undefined if there are too many. */
  readonly takeSlot: (settings: HttpSettings) => (() => void) | undefined;
  /** Memory that large bodies take until their routes have ended. */
  readonly largeBodies: MemoryBudget;
  readonly signIns: SignInAttempts;
}

/**
 * Runs a request through its row, cheapest refusal first: key, slot, rate limits, query and headers, body, handler. No
 * byte of the body is read before the caller is authenticated and within its limits.
 */
export async function runRoute(
  exchange: HttpExchange,
  match: RouteMatch,
  context: RouteContext,
): Promise<void> {
  const { route } = match.compiled;
  const isPublic = route.isPublic?.(context.settings, exchange.request) === true;
  const keyKind = isPublic ? 'none' : PERMISSIONS[route.permission];
  const identifying = IDENTIFY_BY_KEY[keyKind](exchange, match.compiled, context);
  // Awaited also if synchronous: a small body that came with its head is buffered after it. A generation has waited for
  // that at the turnstile.
  const isAwaited = identifying instanceof Promise || route.rateClass !== 'generation';
  exchange.caller = isAwaited ? await identifying : identifying;
  const memory = new BodyMemory(context.largeBodies, exchange);
  const freeSlot = route.rateClass === 'generation' ? takeSlotOrRefuse(context) : undefined;
  try {
    const counting = countAgainstLimits(exchange.caller, match.compiled, context);
    if (counting !== undefined) await counting;
    requireNoNullCharacter(match.params);
    const rawQuery = match.search === '' ? NO_QUERY : new URLSearchParams(match.search);
    const query = readQuery(rawQuery, match.compiled);
    const headers = readHeaders(exchange, match.compiled);
    const reading = readBody(exchange, match.compiled, context, memory);
    const body = reading instanceof Promise ? await reading : reading;
    await BATCH_POINT;
    const handling = route.handler({
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
    if (handling !== undefined) await handling;
  } finally {
    freeSlot?.();
    memory.free();
  }
}

const NO_QUERY = new URLSearchParams();

type Identify = (
  exchange: HttpExchange,
  compiled: CompiledRoute,
  context: RouteContext,
) => Caller | undefined | Promise<Caller | undefined>;

/** How each kind of route finds its caller. */
const IDENTIFY_BY_KEY: Readonly<Record<Exclude<KeyKind, 'machine'>, Identify>> = {
  none: () => undefined,
  optional: identifyIfPossible,
  any: identifyOrSignIn,
  inference: identify,
  management: identify,
  operator: identify,
};

function identifyOrSignIn(...call: Parameters<Identify>): ReturnType<Identify> {
  return call[1].route.isSignIn === true ? identifySignIn(...call) : identify(...call);
}

async function identifySignIn(...call: Parameters<Identify>): Promise<Caller> {
  const [{ request }, , { settings, signIns }] = call;
  const address = clientAddressOf(
    request.peerAddress,
    request.headerValues('x-forwarded-for'),
    settings.trustedProxies,
  );
  const beginning = secretBeginningOf(request);
  // Without a key none is tried.
  if (beginning === '') return identify(...call);
  const signIn = { address, beginning };
  signIns.require(signIn);
  try {
    return await identify(...call);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'authentication') signIns.refused(signIn);
    throw error;
  }
}

/** Synchronous for callers that were found lately. */
function identify(
  exchange: HttpExchange,
  compiled: CompiledRoute,
  { services }: RouteContext,
): Caller | Promise<Caller> {
  const { clock } = services;
  const started = clock.monotonic();
  let found: Caller | Promise<Caller> | undefined;
  try {
    found = authenticate(exchange.request, services);
    if (!(found instanceof Promise)) return admitted(exchange, compiled, found, services);
  } finally {
    if (!(found instanceof Promise)) exchange.timing.mark('auth', clock.monotonic() - started);
  }
  return found
    .then((caller) => admitted(exchange, compiled, caller, services))
    .finally(() => exchange.timing.mark('auth', clock.monotonic() - started));
}

/** An invalid key counts as none. */
async function identifyIfPossible(...call: Parameters<Identify>): Promise<Caller | undefined> {
  try {
    return await identify(...call);
  } catch {
    return undefined;
  }
}

function admitted(
  exchange: HttpExchange,
  { route }: CompiledRoute,
  caller: Caller,
  services: HttpDependencies,
): Caller {
  // Set before the permission is asked for: the refusal names the account.
  exchange.caller = caller;
  requirePermission(route.permission, caller, services);
  return caller;
}

/** No resource has U+0000 in its name, and PostgreSQL refuses it in a query. */
function requireNoNullCharacter(params: RouteMatch['params']): void {
  for (const name in params) {
    if (params[name]?.includes('\0') === true) throw new GatewayError('not-found', 'Resource not found');
  }
}

function countAgainstLimits(
  caller: Caller | undefined,
  { route }: CompiledRoute,
  { services, settings }: RouteContext,
): Promise<void> | undefined {
  return caller && countRequest(route.rateClass, caller, settings.rates, services);
}

function takeSlotOrRefuse({ takeSlot, settings }: RouteContext): () => void {
  const freeSlot = takeSlot(settings);
  if (freeSlot === undefined)
    throw unavailable('Service temporarily unavailable: too many requests in flight');
  return freeSlot;
}

const NOTHING: JsonObject = Object.freeze({});

function readQuery(rawQuery: URLSearchParams, { route, validators }: CompiledRoute): JsonObject {
  if (rawQuery.size > 0) refuseUnknownParameters(rawQuery, route);
  if (route.request.query === null) return NOTHING;
  const query = parseQuery(rawQuery, route.request.query);
  const issues = validators.query?.issuesOf(query) ?? [];
  if (issues.length > 0) throw invalidRequest(issues);
  return query;
}

function readHeaders(
  exchange: HttpExchange,
  { headers: { names, lengths }, validators }: CompiledRoute,
): Record<string, string> {
  const headers: Record<string, string> = {};
  const { rawHeaders } = exchange.request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] as string;
    if (!lengths.has(written.length)) continue;
    const name = written.toLowerCase();
    if (!names.has(name)) continue;
    const before = headers[name];
    const value = rawHeaders[index + 1] as string;
    headers[name] = before === undefined ? value : `${before},${value}`;
  }
  const issues = validators.headers?.issuesOf(headers) ?? [];
  if (issues.length > 0) throw invalidRequest(issues);
  return headers;
}

function readBody(
  exchange: HttpExchange,
  compiled: CompiledRoute,
  context: RouteContext,
  memory: BodyMemory,
): JsonObject | Promise<JsonObject> {
  if (compiled.route.request.body === null) return NOTHING;
  const { request } = exchange;
  if (!request.hasBody) {
    throw new UnreadableBody('is empty: send a JSON object');
  }
  requireJson(request.header('content-type'), request.header('content-encoding'));
  exchange.sendContinue();
  const { settings, times, services } = context;
  const limits = { maxBytes: settings.maxBodyBytes, deadlineMs: times.bodyMs };
  const body = readJsonBody(exchange, limits, memory);
  if (body instanceof Promise) return validInTurn(body, compiled, exchange, services);
  return requireValid(body, compiled, issuesOf(body, compiled), exchange, services);
}

/** Validates a body that was large, or slow to come, in a turn of its own. */
async function validInTurn(
  reading: Promise<JsonObject>,
  compiled: CompiledRoute,
  exchange: HttpExchange,
  services: HttpDependencies,
): Promise<JsonObject> {
  const body = await reading;
  const issues = await inTurn(services.clock, () => issuesOf(body, compiled));
  return requireValid(body, compiled, issues, exchange, services);
}

function issuesOf(body: JsonObject, { validators }: CompiledRoute): readonly Issue[] {
  return validators.body?.issuesOf(body) ?? [];
}

function requireValid(
  body: JsonObject,
  { route }: CompiledRoute,
  issues: readonly Issue[],
  exchange: HttpExchange,
  services: HttpDependencies,
): JsonObject {
  if (issues.length === 0) return body;
  exchange.refusedBody = body;
  const { furtherIssues } = route.request;
  // A full list names only the first of what is wrong: which other members are valid is not known.
  if (furtherIssues === undefined || issues.length >= MAX_ISSUES) throw invalidRequest(issues);
  throw invalidRequest([...issues, ...furtherIssues(withoutMembers(body, issues) as never, services)]);
}

function withoutMembers(body: JsonObject, issues: readonly Issue[]): JsonObject {
  const named = new Set(issues.map(({ path }) => /^[^.[]*/.exec(path)?.[0]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !named.has(name)));
}
