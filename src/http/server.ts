import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type EncodeError, encodeEnvelope } from '../dialects/error-envelope.ts';
import { GatewayError, toGatewayError } from '../ir/errors.ts';
import { answer } from './answer.ts';
import { CallerGone } from './caller-gone.ts';
import {
  DEFAULT_TIMES,
  type HttpBasics,
  type HttpDependencies,
  type HttpServices,
  type HttpSettings,
  type HttpTimes,
} from './dependencies.ts';
import { renderDocsPage } from './docs-page.ts';
import { replyWithError } from './error-reply.ts';
import { Exchange } from './exchange.ts';
import { framingProblem } from './framing.ts';
import { HttpMetrics, type InFlight } from './http-metrics.ts';
import { describeRoutes } from './openapi.ts';
import { endSocket, endWithError, headProblem } from './raw-error.ts';
import { headerValues } from './request-headers.ts';
import type { ServerState, ServerView } from './route.ts';
import { RouteIndex } from './route-index.ts';
import { routesFor } from './routes.ts';
import { unavailable } from './unavailable.ts';

/** The gateway's door. */
export interface HttpServer {
  readonly metrics: HttpMetrics;
  readonly inFlight: InFlight;
  readonly state: ServerState;
  /** Binds; rejects when it cannot. Port 0 picks a free one. Until it is ready every request but the probes gets 503. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Serves requests by `services`, once the request schemas are compiled, and `/readyz` says so. */
  serve(services: HttpServices): Promise<void>;
  /**
   * Stops accepting, lets what is in flight finish, and ends what is left after `limitMs` with a failure in its own
   * format. Resolves when every connection is closed; may be called once.
   */
  drain(limitMs: number): Promise<void>;
}

/** Makes a server that is not listening yet. */
export function createHttpServer(basics: HttpBasics): HttpServer {
  return new NodeHttpServer(basics);
}

/** What depends on the vendor word and the base path, made once for each pair. */
interface Face {
  readonly vendor: string;
  readonly basePath: string;
  readonly index: RouteIndex;
  readonly view: ServerView;
}

/** Requests of one connection that may wait for their answers at the same time. */
const MAX_PIPELINED = 16;

class NodeHttpServer implements HttpServer {
  readonly inFlight: InFlight = {
    requests: () => this.#exchanges.size,
    generations: () => this.#generations,
  };
  readonly metrics = new HttpMetrics(this.inFlight);
  #services: HttpDependencies;
  readonly #times: HttpTimes;
  readonly #server: Server;
  readonly #exchanges = new Set<Exchange>();
  /** Exchanges of a connection that have no reply yet, or not a whole one. */
  readonly #bySocket = new WeakMap<Duplex, Set<Exchange>>();
  /** Connections on which nothing more is a request to us. */
  readonly #distrusted = new WeakSet<Duplex>();
  #state: ServerState = 'starting';
  #generations = 0;
  #face: Face | undefined;
  #whenEnded: ((exchange: Exchange) => void) | undefined;

  constructor(basics: HttpBasics) {
    this.#services = withoutServices(basics);
    this.#times = { ...DEFAULT_TIMES, ...basics.times };
    const times = this.#times;
    this.#server = createServer({
      headersTimeout: times.headersMs,
      // Bodies have their own limits, with a proper reply: this one only ends what slipped through.
      requestTimeout: times.headersMs + Math.max(times.bodyMs, times.uploadMs) + 5_000,
      connectionsCheckingInterval: times.checkMs,
      keepAliveTimeout: times.idleMs,
      maxHeaderSize: times.maxHeadBytes,
      // Refused by us instead, with a body.
      requireHostHeader: false,
      noDelay: true,
    });
    this.#server.on('request', (request, response) => this.#accept(request, response, false));
    this.#server.on('checkContinue', (request, response) => this.#accept(request, response, true));
    this.#server.on('checkExpectation', (request, response) => this.#accept(request, response, false));
    this.#server.on('connect', (_request, socket) =>
      this.#refuse(socket, new GatewayError('method-not-allowed', 'CONNECT is not supported')),
    );
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#broken(error, socket));
  }

  get state(): ServerState {
    return this.#state;
  }

  async listen(host: string, port: number): Promise<{ host: string; port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => this.#services.log.error('The listener failed', { error }));
    const address = this.#server.address() as AddressInfo;
    return { host: address.address, port: address.port };
  }

  async serve(services: HttpServices): Promise<void> {
    const { settings, ids, clock, log, lazySchemas } = this.#services;
    if (lazySchemas !== true) await this.#currentFace(settings()).index.compile();
    this.#services = { settings, ids, clock, log, ...services };
    if (this.#state === 'starting') this.#state = 'ready';
  }

  /**
   * What was in flight when the drain began may end; whatever comes now is refused with 503 and `Connection: close`,
   * and `/readyz` says so, until the listener closes with the last of it.
   */
  async drain(limitMs: number): Promise<void> {
    this.#state = 'draining';
    this.#server.closeIdleConnections();
    const awaited = new Set(this.#exchanges);
    if (!(await this.#endedWithin(awaited, limitMs))) {
      for (const exchange of awaited) exchange.abort(unavailable('The gateway is shutting down'));
      await this.#endedWithin(awaited, this.#times.abortGraceMs * 2);
    }
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // Refusals that were written behind the last answers still have to leave.
    await this.#endedWithin(new Set(this.#exchanges), this.#times.abortGraceMs);
    this.#server.closeAllConnections();
    await closed;
  }

  /** Whether all of the exchanges have ended, at the latest after `limitMs`. They leave the set as they end. */
  #endedWithin(awaited: Set<Exchange>, limitMs: number): Promise<boolean> {
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

  #accept(request: IncomingMessage, response: ServerResponse, awaitsInvitation: boolean): void {
    if (this.#distrusted.has(request.socket)) return;
    const ofSocket = this.#bySocket.get(request.socket) ?? this.#watch(request.socket);
    // One who sends and never reads would have us keep an answer for every request.
    if (ofSocket.size >= MAX_PIPELINED) {
      request.socket.destroy();
      return;
    }
    const { clock, ids } = this.#services;
    const exchange = new Exchange(request, response, {
      clock,
      token: ids.token(20),
      lingerMs: this.#times.lingerMs,
      awaitsInvitation,
      closed: this.#closed,
    });
    ofSocket.add(exchange);
    this.#exchanges.add(exchange);
    void this.#handle(exchange);
  }

  async #handle(exchange: Exchange): Promise<void> {
    const { request, reply } = exchange;
    const settings = this.#services.settings();
    let encodeError: EncodeError = encodeEnvelope;
    let operation = 'unknown';
    if (this.#state === 'draining') reply.closeConnection();
    try {
      this.#requireFraming(exchange);
      const face = this.#currentFace(settings);
      const match = face.index.find(request.method ?? '', request.url ?? '');
      if ('allowed' in match) {
        encodeError = match.encodeError;
        throw missing(match.allowed);
      }
      const { route } = match.compiled;
      operation = route.operationId;
      encodeError = route.encodeError;
      if (route.rateClass === 'generation') exchange.becomeGeneration();
      requireOneHost(request);
      if (this.#state !== 'ready' && route.rateClass !== 'probe') {
        throw unavailable('Service temporarily unavailable');
      }
      await answer(exchange, match, {
        services: this.#services,
        settings,
        times: this.#times,
        server: face.view,
        enter: this.#enter,
      });
    } catch (thrown) {
      if (!(thrown instanceof CallerGone)) this.metrics.failed(toGatewayError(thrown).kind);
      replyWithError(exchange, thrown, { encodeError, vendor: settings.vendor, log: this.#services.log });
    }
    this.metrics.answered(operation, reply.gone ? 'gone' : reply.status, exchange.timing);
    this.#services.log.debug('request', {
      request_id: exchange.requestId,
      operation,
      status: reply.gone ? 0 : reply.status,
      milliseconds: Math.round(exchange.timing.elapsed()),
    });
  }

  #requireFraming({ request, reply }: Exchange): void {
    const problem = framingProblem(request);
    if (problem === undefined) return;
    this.#distrusted.add(request.socket);
    reply.closeConnection();
    throw problem;
  }

  readonly #enter = ({ maxConcurrentRequests }: HttpSettings): (() => void) | undefined => {
    if (this.#generations >= maxConcurrentRequests) return undefined;
    this.#generations++;
    return this.#leave;
  };

  readonly #leave = (): void => {
    this.#generations--;
  };

  #currentFace({ vendor, basePath }: HttpSettings): Face {
    const current = this.#face;
    if (current !== undefined && current.vendor === vendor && current.basePath === basePath) return current;
    const routes = routesFor(vendor);
    const description = onFirstUse(() => describeRoutes(routes, { vendor, basePath }));
    const document = onFirstUse(() => Buffer.from(JSON.stringify(description())));
    const page = onFirstUse(() => renderDocsPage(description()));
    const state = () => this.#state;
    const view: ServerView = {
      get state() {
        return state();
      },
      document,
      page,
    };
    this.#face = { vendor, basePath, index: new RouteIndex(routes, basePath), view };
    return this.#face;
  }

  readonly #closed = (exchange: Exchange): void => {
    this.#bySocket.get(exchange.request.socket)?.delete(exchange);
    this.#exchanges.delete(exchange);
    if (this.#state !== 'draining') return;
    // What was idle when the drain began is closed; so is what became idle since.
    this.#server.closeIdleConnections();
    this.#whenEnded?.(exchange);
  };

  #watch(socket: Duplex): Set<Exchange> {
    const exchanges = new Set<Exchange>();
    this.#bySocket.set(socket, exchanges);
    socket.once('close', () => {
      process.nextTick(() => {
        for (const { reply } of exchanges) reply.drop();
      });
    });
    return exchanges;
  }

  /** Bytes that are no request. A reply that is already on its way must not get an error written into it. */
  #broken(error: NodeJS.ErrnoException, socket: Duplex): void {
    const begun = [...(this.#bySocket.get(socket) ?? [])].filter(({ reply }) => reply.begun);
    const cut = begun.some(({ reply }) => !reply.ended) || error.code === 'ECONNRESET';
    if (cut || !socket.writable) socket.destroy();
    else if (begun.length > 0) endSocket(socket, '', this.#times.lingerMs);
    else this.#refuse(socket, headProblem(error.code));
  }

  #refuse(socket: Duplex, error: GatewayError): void {
    const { clock, ids, settings } = this.#services;
    endWithError(socket, error, {
      vendor: settings().vendor,
      requestId: `req-${Math.floor(clock.now() / 1000)}-${ids.token(20)}`,
      lingerMs: this.#times.lingerMs,
    });
  }
}

/** Until there are services, whoever reaches for one learns that it is too early. */
function withoutServices(basics: HttpBasics): HttpDependencies {
  const refuse = (): never => {
    throw unavailable('Service temporarily unavailable');
  };
  return {
    ...basics,
    get catalog() {
      return refuse();
    },
    get callers() {
      return refuse();
    },
    get gateway() {
      return refuse();
    },
    get limiter() {
      return refuse();
    },
    get byok() {
      return refuse();
    },
    get generations() {
      return refuse();
    },
    get accountKeys() {
      return refuse();
    },
    get workspaces() {
      return refuse();
    },
    get budgets() {
      return refuse();
    },
    get credits() {
      return refuse();
    },
    get analytics() {
      return refuse();
    },
    get activity() {
      return refuse();
    },
    get files() {
      return refuse();
    },
    get rankings() {
      return refuse();
    },
    get metrics() {
      return refuse();
    },
    get firstAccountId() {
      return refuse();
    },
  };
}

function missing(allowed: readonly string[]): GatewayError {
  if (allowed.length === 0) return new GatewayError('not-found', 'Resource not found');
  const list = allowed.join(', ');
  return new GatewayError('method-not-allowed', `Method not allowed: use ${list}`, {
    headers: { Allow: list },
  });
}

/** Two hosts, or none where the protocol wants one, mean that somebody on the way reads the request differently. */
function requireOneHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  const { length } = headerValues(rawHeaders, 'host');
  if (length > 1 || (length === 0 && httpVersion === '1.1')) {
    throw new GatewayError('invalid-request', 'Host: must be given exactly once');
  }
}

function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
