import { setTimeout as delay } from 'node:timers/promises';
import { type EncodeError, encodeEnvelope } from '../dialects/shared/answers/error-envelope.ts';
import type { RateClass } from '../endpoints/endpoint.ts';
import { GatewayError, toGatewayError } from '../ir/errors.ts';
import type { RequestFormat } from '../ir/items.ts';
import { requestIdOf } from '../kit/ids.ts';
import { MemoryBudget } from '../kit/loop/memory-budget.ts';
import { clientAddressOf } from '../kit/net/client-address.ts';
import type { HeadRefusal, ServerConnection } from '../net/http1/server/connection.ts';
import type { InboundRequest } from '../net/http1/server/inbound-request.ts';
import { Listener, type ListenerCertificate } from '../net/http1/server/listener.ts';
import type { OutboundResponse } from '../net/http1/server/outbound-response.ts';
import { ResponseHeadWriter } from '../net/http1/server/response-head-writer.ts';
import type { ScannedHead } from '../net/http1/server/scan-head.ts';
import { labelOf } from './access/authenticate.ts';
import { allowOrigin, isPreflight, preflightHeaders } from './access/cors.ts';
import { RefusedKeys } from './access/refused-keys.ts';
import { SignInAttempts } from './access/sign-in-attempts.ts';
import { answerConsole, answerLostBrowser } from './console/answer-console.ts';
import {
  DEFAULT_TIMES,
  type GenerationServices,
  type HttpBasics,
  type HttpDependencies,
  type HttpServices,
  type HttpSettings,
  type HttpTimes,
} from './dependencies.ts';
import { replyWithError } from './exchange/error-reply.ts';
import {
  CallerGone,
  type ExchangeDependencies,
  generationLines,
  HttpExchange,
} from './exchange/http-exchange.ts';
import { OVERLOAD_HEADERS, OVERLOADED, OverloadResponses } from './exchange/overload-responses.ts';
import { refusalResponse } from './exchange/refusal-response.ts';
import { ServerTiming } from './exchange/server-timing.ts';
import { unavailable } from './exchange/unavailable.ts';
import { renderDocsPage } from './openapi/docs-page.ts';
import { describeRoutes } from './openapi/openapi.ts';
import type { Route, ServerState, ServerView } from './route.ts';
import { routesFor } from './routes/routes.ts';
import { HttpMetrics, type InFlight } from './server/http-metrics.ts';
import { hintForGemini, hintForLostPath } from './server/lost-path.ts';
import { noteRefusedExchange, noteTurnedAway } from './server/refused-requests.ts';
import { RouteIndex } from './server/route-index.ts';
import { runRoute } from './server/run-route.ts';
import { ShedRequests } from './server/shed-requests.ts';
import { Turnstile } from './server/turnstile.ts';

export interface HttpServer {
  readonly metrics: HttpMetrics;
  readonly inFlight: InFlight;
  readonly state: ServerState;
  /**
   * Binds; rejects when it cannot. Port 0 picks a free one. Until it is ready every request but the probes gets 503.
   */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Takes a request of a connection that another process has. */
  accept(request: InboundRequest, response: OutboundResponse): void;
  /** Shows another certificate to callers that connect from now on. */
  renewCertificate(certificate: ListenerCertificate): void;
  /** Serves requests by `services`, once the request schemas are compiled, and `/readyz` says so. */
  serve(services: HttpServices | GenerationServices): Promise<void>;
  /**
   * Reports by `/readyz` that it is draining, and serves what comes for `graceMs`: so balancers that watch it can turn
   * to others before anything is refused. Each reply closes its connection. To be followed by `drain`, which ends it.
   */
  leave(graceMs: number): Promise<void>;
  /**
   * Stops accepting, lets what is in flight finish, and ends what is left after `limitMs` with a failure in its own
   * format. Resolves when every connection is closed; may be called once.
   */
  drain(limitMs: number): Promise<void>;
}

/** Makes a server that is not listening yet. */
export function createHttpServer(basics: HttpBasics): HttpServer {
  return new GatewayServer(basics);
}

/** Everything that depends on the vendor word and the base path, made once for each pair. */
interface VendorPaths {
  readonly vendor: string;
  readonly basePath: string;
  readonly index: RouteIndex;
  readonly view: ServerView;
  readonly overload: OverloadResponses;
}

/** Requests of one connection that may wait for their answers at the same time. */
const MAX_PIPELINED = 16;

/** During overload one request in so many milliseconds is parsed, so that the log shows whose are refused. */
const OVERLOAD_NOTE_MS = 1_000;

/** Routes by which an operator sees and steers the gateway: a flood of generations must not delay them. */
const RESERVED_CLASSES: ReadonlySet<RateClass> = new Set(['probe', 'management']);

class GatewayServer implements HttpServer {
  readonly inFlight: InFlight = {
    requests: () => this.#exchanges.size,
    generations: () => this.#generations,
  };
  readonly metrics = new HttpMetrics(this.inFlight);
  readonly #basics: HttpBasics;
  #services: HttpDependencies;
  readonly #times: HttpTimes;
  readonly #listener: Listener;
  readonly #heads: ResponseHeadWriter;
  readonly #dependencies: ExchangeDependencies;
  readonly #exchanges = new Set<HttpExchange>();
  readonly #turnstile = new Turnstile();
  readonly #refusedKeys: RefusedKeys;
  readonly #signIns: SignInAttempts;
  readonly #shedRequests: ShedRequests;
  readonly #largeBodies: MemoryBudget;
  #state: ServerState = 'starting';
  /** True while new requests are served, also while `/readyz` already says that they should go elsewhere. */
  #isServing = false;
  /** Ends the grace when the drain begins. */
  readonly #grace = new AbortController();
  #generations = 0;
  /** When a request was last parsed although there was an overload. */
  #overloadNotedMs = Number.NEGATIVE_INFINITY;
  #paths: VendorPaths | undefined;
  #whenEnded: ((exchange: HttpExchange) => void) | undefined;

  constructor(basics: HttpBasics) {
    this.#basics = basics;
    this.#refusedKeys = new RefusedKeys(basics.clock, basics.log);
    this.#signIns = new SignInAttempts(basics.clock);
    this.#shedRequests = new ShedRequests(basics.clock, basics.log);
    this.#largeBodies = new MemoryBudget(() => basics.settings().largeBodiesBytes);
    this.#services = withoutServices(basics);
    this.#times = { ...DEFAULT_TIMES, ...basics.times };
    const { headersMs, bodyMs, uploadMs, checkMs, idleMs, lingerMs, discardMs, maxHeadBytes } = this.#times;
    this.#heads = new ResponseHeadWriter(basics.clock, idleMs);
    this.#dependencies = { clock: basics.clock, heads: this.#heads, closed: this.#closed };
    const limits = {
      headersMs,
      // Bodies have their own limits, with a proper reply: this one only ends what slipped through.
      requestMs: headersMs + Math.max(bodyMs, uploadMs) + 5_000,
      idleMs,
      lingerMs,
      discardMs,
      maxHeadBytes,
      maxPipelined: MAX_PIPELINED,
    };
    this.#listener = new Listener(
      limits,
      { checkMs, listeningSockets: basics.listeningSockets ?? 1, certificate: basics.certificate },
      {
        isOverloaded: () => this.#isServing && this.#turnstile.isOverloaded,
        turnAway: (request) => this.#turnAwayUnparsed(request),
        shareOf: (method, target) => this.#shareOf(method, target),
        accept: (request, response) => this.accept(request, response),
        refuse: (connection, refusal) => this.#refuse(connection, refusal),
        failed: (error) => this.#basics.log.error('the listening socket failed', { error }),
      },
    );
  }

  get state(): ServerState {
    return this.#state;
  }

  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    return this.#listener.listen(host, port);
  }

  renewCertificate(certificate: ListenerCertificate): void {
    this.#listener.renewCertificate(certificate);
  }

  async serve(services: HttpServices | GenerationServices): Promise<void> {
    const { settings, lazySchemas } = this.#basics;
    if (lazySchemas !== true)
      await this.#currentPaths(settings()).index.compile((route) => !this.#isForwarded(route));
    // Routes that are forwarded use no other services than those of generations.
    this.#services = { ...this.#basics, ...(services as HttpServices) };
    if (this.#state !== 'starting') return;
    this.#state = 'ready';
    this.#isServing = true;
  }

  async leave(graceMs: number): Promise<void> {
    this.#state = 'draining';
    if (!this.#isServing) return;
    await delay(graceMs, undefined, { signal: this.#grace.signal }).catch(() => {});
  }

  /**
   * Requests in flight may end; new ones are refused with 503 and `Connection: close`,
   * and `/readyz` says so, until the listener closes with the last of it.
   */
  async drain(limitMs: number): Promise<void> {
    this.#grace.abort();
    this.#listener.parsePending();
    this.#state = 'draining';
    this.#isServing = false;
    this.#listener.closeIdle();
    const awaited = new Set(this.#exchanges);
    if (!(await this.#endedWithin(awaited, limitMs))) {
      for (const exchange of awaited) exchange.abort(unavailable('The gateway is shutting down'));
      await this.#endedWithin(awaited, this.#times.abortGraceMs * 2);
    }
    const closed = this.#listener.close();
    // Refusals that were written behind the last answers still have to leave.
    await this.#endedWithin(new Set(this.#exchanges), this.#times.abortGraceMs);
    this.#listener.destroyConnections();
    await closed;
  }

  /** Whether all of the exchanges have ended, at the latest after `limitMs`. They leave the set as they end. */
  #endedWithin(awaited: Set<HttpExchange>, limitMs: number): Promise<boolean> {
    if (awaited.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#whenEnded = undefined;
        resolve(false);
      }, limitMs);
      this.#whenEnded = (exchange) => {
        awaited.delete(exchange);
        if (awaited.size > 0) return;
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  accept(request: InboundRequest, response: OutboundResponse): void {
    const exchange = new HttpExchange(request, response, this.#basics.ids.token(20), this.#dependencies);
    this.#exchanges.add(exchange);
    void this.#handle(exchange);
  }

  async #handle(exchange: HttpExchange): Promise<void> {
    const { request, reply } = exchange;
    const settings = this.#basics.settings();
    let encodeError: EncodeError = encodeEnvelope;
    let operation = 'unknown';
    let format: RequestFormat | undefined;
    if (this.#state === 'draining') reply.closeConnection();
    try {
      requireFraming(exchange);
      requireHost(exchange);
      if (settings.cors !== undefined && allowOrigin(exchange, settings.cors) && isPreflight(request)) {
        return this.#answerPreflight(exchange);
      }
      const { console: files } = this.#basics;
      if (files !== undefined && answerConsole(exchange, files)) {
        this.metrics.answered('console', reply.gone ? 'gone' : reply.status, exchange.timing);
        return;
      }
      const paths = this.#currentPaths(settings);
      const match = paths.index.find(request.method, request.url);
      if ('allowed' in match) {
        const isUnknown = match.allowed.length === 0;
        if (isUnknown && files !== undefined && answerLostBrowser(exchange, files, settings.basePath)) {
          this.metrics.answered('console', reply.gone ? 'gone' : reply.status, exchange.timing);
          return;
        }
        encodeError = match.encodeError;
        throw noRoute(match.allowed, request.url, settings, paths.index.paths);
      }
      const { route } = match.compiled;
      operation = route.operationId;
      format = route.format;
      encodeError = route.encodeError;
      if (route.rateClass === 'generation') exchange.becomeGeneration();
      if (this.#isForwarded(route) && this.#state !== 'starting') {
        this.#basics.forward?.(request, reply.handOver());
        return;
      }
      if (!this.#isServing && route.rateClass !== 'probe') {
        const doing = this.#state === 'draining' ? 'stopping' : 'starting';
        throw unavailable(`Service temporarily unavailable: the gateway is ${doing}`);
      }
      if (route.rateClass === 'generation') {
        const entry = this.#turnstile.enter();
        if (entry === false || !(await entry)) return this.#turnAway(exchange, route, paths);
      }
      await runRoute(exchange, match, {
        services: this.#services,
        settings,
        times: this.#times,
        server: paths.view,
        takeSlot: this.#takeSlot,
        largeBodies: this.#largeBodies,
        signIns: this.#signIns,
      });
    } catch (thrown) {
      // A caller that has closed its connection gets no reply, and that counts as no failure.
      const isGone = thrown instanceof CallerGone || reply.gone;
      if (!isGone) {
        const { kind, message, metadata } = toGatewayError(thrown);
        this.metrics.failed(kind);
        // Failures of providers are in the lines of their generations.
        const isShed = kind === 'overloaded' && metadata?.provider_name === undefined;
        if (isShed && this.#isServing) this.#shedRequests.note(message);
        if (kind === 'authentication') {
          const client = clientOf(request, settings);
          this.#refusedKeys.note(client, exchange.requestId, operation, labelOf(request));
        }
        // The gateway notes by itself what it has refused.
        if (format !== undefined && !exchange.routed && this.#isServing) {
          noteRefusedExchange({ exchange, format, vendor: settings.vendor }, thrown, this.#services);
        }
        replyWithError(exchange, thrown, { encodeError, vendor: settings.vendor, log: this.#basics.log });
      }
    }
    const status = reply.gone ? 'gone' : reply.status;
    this.metrics.answered(operation, status, exchange.timing);
    const { caller } = exchange;
    if (caller !== undefined && exchange.isGeneration) this.metrics.answeredIn(caller.workspace, status);
    this.#basics.log.debug('request', {
      request_id: exchange.requestId,
      operation,
      // Read only if the line is written.
      get client() {
        return clientOf(request, settings);
      },
      status: reply.gone ? 0 : reply.status,
      milliseconds: Math.round(exchange.timing.elapsed()),
    });
  }

  #answerPreflight({ request, reply, timing }: HttpExchange): void {
    reply.noContent(preflightHeaders(request));
    this.metrics.answered('preflight', reply.gone ? 'gone' : reply.status, timing);
  }

  #turnAway(
    exchange: HttpExchange,
    { operationId, encodeError, format }: Route,
    { vendor, overload }: VendorPaths,
  ): void {
    const { reply, timing } = exchange;
    if (format !== undefined && this.#services.refusals.takeOverloaded()) {
      noteTurnedAway({ exchange, format, vendor }, OVERLOADED, this.#services);
    }
    reply.jsonText(OVERLOADED.status, overload.body(encodeError), OVERLOAD_HEADERS);
    this.#countTurnedAway(operationId, reply.gone ? 'gone' : OVERLOADED.status, timing);
  }

  /** Turns a request away before it is parsed, without an exchange: turning many away must cost little. */
  #turnAwayUnparsed({ target }: ScannedHead): string | undefined {
    const { clock, ids, settings } = this.#basics;
    const { index, overload } = this.#currentPaths(settings());
    const match = index.find('POST', target);
    if ('allowed' in match || match.compiled.route.rateClass !== 'generation') return undefined;
    // Parsed now and then, for a row in the log.
    if (clock.monotonic() - this.#overloadNotedMs > OVERLOAD_NOTE_MS) {
      this.#overloadNotedMs = clock.monotonic();
      return undefined;
    }
    this.#turnstile.turnAway();
    const { operationId, encodeError } = match.compiled.route;
    const timing = new ServerTiming(clock);
    const requestId = requestIdOf('gen', clock.now(), ids.token(20));
    const text = overload.text(encodeError, generationLines(requestId, timing), this.#heads);
    this.#countTurnedAway(operationId, OVERLOADED.status, timing);
    return text;
  }

  /** Whether the owner of the installation answers, not this worker. */
  #isForwarded({ rateClass }: Route): boolean {
    return this.#basics.forward !== undefined && rateClass !== 'generation';
  }

  /** The share in which a request is parsed while many arrive; undefined if it waits with the others. */
  #shareOf(method: string, target: string): string | undefined {
    const match = this.#currentPaths(this.#basics.settings()).index.find(method, target);
    if ('allowed' in match) return undefined;
    const { rateClass } = match.compiled.route;
    return RESERVED_CLASSES.has(rateClass) ? rateClass : undefined;
  }

  #countTurnedAway(operation: string, status: number | 'gone', timing: ServerTiming): void {
    this.metrics.turnedAway('flood');
    this.metrics.failed(OVERLOADED.kind);
    this.#shedRequests.note(OVERLOADED.message);
    this.metrics.answered(operation, status, timing);
  }

  readonly #takeSlot = ({ maxConcurrentRequests }: HttpSettings): (() => void) | undefined => {
    if (this.#generations >= maxConcurrentRequests) {
      this.metrics.turnedAway('in-flight');
      return undefined;
    }
    this.#generations++;
    return this.#freeSlot;
  };

  readonly #freeSlot = (): void => {
    this.#generations--;
  };

  #currentPaths({ vendor, basePath }: HttpSettings): VendorPaths {
    const current = this.#paths;
    if (current !== undefined && current.vendor === vendor && current.basePath === basePath) return current;
    const routes = routesFor(vendor);
    const description = onFirstUse(() => describeRoutes(routes, { vendor, basePath }));
    const document = onFirstUse(() => Buffer.from(JSON.stringify(description())));
    const page = onFirstUse(() => renderDocsPage(description(), routes, basePath));
    const state = () => this.#state;
    const view: ServerView = {
      get state() {
        return state();
      },
      document,
      page,
    };
    this.#paths = {
      vendor,
      basePath,
      index: new RouteIndex(routes, basePath),
      view,
      overload: new OverloadResponses(vendor),
    };
    return this.#paths;
  }

  readonly #closed = (exchange: HttpExchange): void => {
    this.#exchanges.delete(exchange);
    this.#whenEnded?.(exchange);
  };

  #refuse(connection: ServerConnection, refusal: HeadRefusal): void {
    const { clock, ids, settings } = this.#basics;
    const requestId = requestIdOf('req', clock.now(), ids.token(20));
    connection.endWith(
      refusalResponse(refusal, { vendor: settings().vendor, requestId, heads: this.#heads }),
    );
  }
}

/** Dependencies before `serve`, for probes: reading a service throws a 503. */
function withoutServices(basics: HttpBasics): HttpDependencies {
  return new Proxy(basics as HttpDependencies, {
    get(given, name) {
      if (Object.hasOwn(given, name)) return given[name as keyof HttpBasics];
      throw unavailable('Service temporarily unavailable: the gateway is starting');
    },
  });
}

/** The address of a caller, behind trusted proxies too. */
function clientOf(request: InboundRequest, { trustedProxies }: HttpSettings): string {
  return clientAddressOf(request.peerAddress, request.headerValues('x-forwarded-for'), trustedProxies);
}

function noRoute(
  allowed: readonly string[],
  url: string,
  { basePath }: HttpSettings,
  routes: readonly string[],
): GatewayError {
  const path = url.split('?', 1)[0] ?? url;
  const hint = allowed.length === 0 ? hintForLostPath(path, basePath, routes) : hintForGemini(path, basePath);
  if (hint !== undefined) return new GatewayError('not-found', `Resource not found. ${hint}`);
  const list = allowed.join(', ');
  return new GatewayError('method-not-allowed', `Method not allowed: use ${list}`, {
    headers: { Allow: list },
  });
}

function requireFraming({ request, reply }: HttpExchange): void {
  const { problem } = request.framing;
  if (problem === undefined) return;
  reply.closeConnection();
  throw new GatewayError('invalid-request', problem);
}

/** A name or an address, and a port (RFC 9110, 7.2). It may be empty. */
const HOST = /^(?:[\w.~%!$&'()*+,;=-]*|\[[\w.~%:-]+\])(?::\d*)?$/;

/**
 * Two hosts, none where the protocol wants one, or no host name mean that a server before us reads the request
 * differently.
 */
function requireHost({ request, reply }: HttpExchange): void {
  const hosts = request.headerValues('host');
  const isOne = hosts.length === 1 || (hosts.length === 0 && request.httpVersion !== '1.1');
  if (isOne && HOST.test(hosts[0] ?? '')) return;
  reply.closeConnection();
  throw new GatewayError(
    'invalid-request',
    isOne ? 'Host: must be a host name, with or without a port' : 'Host: must be given exactly once',
  );
}

function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
