import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, Server as TlsServer } from 'node:tls';
import { Cohort, type CohortLimits } from '../../../kit/loop/cohort.ts';
import {
  type HeadRefusal,
  ServerConnection,
  type ServerConnectionLimits,
  type ServerConnectionOwner,
} from './connection.ts';
import type { InboundRequest } from './inbound-request.ts';
import type { OutboundResponse } from './outbound-response.ts';
import { ReservedShares, type ShareOf } from './reserved-shares.ts';
import type { ScannedHead } from './scan-head.ts';

export interface ListenerHandlers {
  /** True while overloaded: `turnAway` is called before requests are parsed. */
  isOverloaded(): boolean;
  /** The response to a request that is turned away; undefined if it is to be parsed. */
  turnAway(head: ScannedHead): string | undefined;
  /** Which requests have a reserved share while many arrive. */
  readonly shareOf: ShareOf;
  accept(request: InboundRequest, response: OutboundResponse): void;
  /** Must call `endWith`. */
  refuse(connection: ServerConnection, problem: HeadRefusal): void;
  failed(error: Error): void;
}

/** Connections that the kernel queues, if its own limit allows as many; beyond that clients retry after a second. */
const BACKLOG = 4096;

/** Connections that may begin a request in one turn: open requests must not wait for all that arrive. */
const ARRIVAL_LIMITS: CohortLimits = { most: 128, newest: 16 };

/** Half open: a caller that has ended its side still gets its responses. */
const SOCKET_OPTIONS = { allowHalfOpen: true, noDelay: true };

/** If as many arrivals wait, requests with a reserved share are parsed before them. */
const CROWDED_ARRIVALS = 16;

/** Requests of one turn that are turned away as soon as they are read. A limit, so that a turn has time for others. */
const MAX_EARLY_TURN_AWAYS_PER_TURN = 32;

/** Connections that may drop the rest of a large request at the same time; others linger shortly. */
const MAX_DISCARDING_CONNECTIONS = 64;

/** A certificate chain and its private key, as PEM. */
export interface ListenerCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface ListenerSettings {
  readonly checkMs: number;
  /**
   * Sockets that listen on the same port, if Node and the system have `reusePort`; else there is one. Node accepts one
   * connection from each in a turn of the event loop.
   */
  readonly listeningSockets: number;
  /** Absent = plain HTTP. */
  readonly certificate?: ListenerCertificate | undefined;
}

/** Node ignores `reusePort` before 22.12 and in 23.0. */
export function hasReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
}

/** `reusePort` is newer than the types of the oldest Node that we run on. */
type SharedListenOptions = ListenOptions & { readonly reusePort?: boolean };

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Accepts connections, and checks the time limits of all of them with one timer. */
export class Listener implements ServerConnectionOwner {
  readonly limits: ServerConnectionLimits;
  readonly arrivals = new Cohort<ServerConnection>((connection) => connection.onTurnEnd(), ARRIVAL_LIMITS);
  readonly #handlers: ListenerHandlers;
  readonly #shares: ReservedShares;
  readonly #settings: ListenerSettings;
  /** All listen on the same port. */
  #servers: Server[] = [];
  readonly #connections = new Set<ServerConnection>();
  /** TCP sockets under TLS: those whose handshake is not done are no connections yet. */
  readonly #tcpSockets = new Set<Socket>();
  #timeLimitTimer: NodeJS.Timeout | undefined;
  #closesIdle = false;
  #discarding = 0;
  /** Calls of `mayTurnAwayEarly` in this turn that returned true. */
  #earlyTurnAways = 0;
  #onLastClosed: (() => void) | undefined;

  constructor(limits: ServerConnectionLimits, settings: ListenerSettings, handlers: ListenerHandlers) {
    this.limits = limits;
    this.#settings = settings;
    this.#handlers = handlers;
    this.#shares = new ReservedShares(handlers.shareOf);
  }

  /** Binds; rejects when it cannot. Port 0 picks a free one. */
  async listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    const { checkMs, listeningSockets } = this.#settings;
    // Exclusive: with `reusePort` alone a second gateway could listen on the same port unnoticed.
    const first = await this.#open({ host, port, backlog: BACKLOG });
    this.#servers = [first];
    const { address, port: bound } = first.address() as AddressInfo;
    if (listeningSockets > 1 && hasReusePort()) await this.#share({ host, port: bound, backlog: BACKLOG });
    for (const server of this.#servers) server.on('error', (error) => this.#handlers.failed(error));
    // An immediate runs after sockets are read: if the event loop was blocked, bytes that came in time are not late.
    this.#timeLimitTimer = setInterval(() => setImmediate(this.#checkTimeLimits), checkMs).unref();
    return { host: address, port: bound };
  }

  /** Shows another certificate to callers that connect from now on. */
  renewCertificate({ cert, key }: ListenerCertificate): void {
    for (const server of this.#servers)
      if (server instanceof TlsServer) server.setSecureContext({ cert, key });
  }

  /** Parses all bytes that have come by now, so that their requests are accepted. */
  parsePending(): void {
    for (const connection of this.#connections) connection.parsePending();
  }

  /** Closes idle connections, and from now on each one that becomes idle. */
  closeIdle(): void {
    this.#closesIdle = true;
    for (const connection of this.#connections) if (connection.isIdle) connection.destroy();
  }

  /** Stops listening; resolves when the last connection is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closeServer));
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onLastClosed = resolve));
    clearInterval(this.#timeLimitTimer);
  }

  destroyConnections(): void {
    for (const socket of this.#tcpSockets) socket.destroy();
    for (const connection of this.#connections) connection.destroy();
  }

  isOverloaded(): boolean {
    return this.#handlers.isOverloaded();
  }

  mayTurnAwayEarly(): boolean {
    if (!this.#handlers.isOverloaded() || this.#earlyTurnAways >= MAX_EARLY_TURN_AWAYS_PER_TURN) return false;
    if (this.#earlyTurnAways === 0) setImmediate(this.#resetEarlyTurnAways);
    this.#earlyTurnAways++;
    return true;
  }

  takesReservedShare(bytes: Buffer): boolean {
    return this.arrivals.size >= CROWDED_ARRIVALS && this.#shares.take(bytes);
  }

  turnAway(request: ScannedHead): string | undefined {
    return this.#handlers.turnAway(request);
  }

  accept(request: InboundRequest, response: OutboundResponse): void {
    this.#handlers.accept(request, response);
  }

  refuse(connection: ServerConnection, problem: HeadRefusal): void {
    this.#handlers.refuse(connection, problem);
  }

  onIdle(connection: ServerConnection): void {
    if (this.#closesIdle) connection.destroy();
  }

  onClosed(connection: ServerConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#onLastClosed?.();
  }

  beginDiscarding(): boolean {
    if (this.#discarding >= MAX_DISCARDING_CONNECTIONS) return false;
    this.#discarding++;
    return true;
  }

  endDiscarding(): void {
    this.#discarding--;
  }

  /** Replaces the exclusive socket by several that share its port; keeps one if the system cannot share. */
  async #share(options: SharedListenOptions): Promise<void> {
    await Promise.all(this.#servers.map(closeServer));
    this.#servers = [];
    try {
      while (this.#servers.length < this.#settings.listeningSockets) {
        this.#servers.push(await this.#open({ ...options, reusePort: true }));
      }
    } catch {
      if (this.#servers.length === 0) this.#servers.push(await this.#open(options));
    }
  }

  async #open(options: SharedListenOptions): Promise<Server> {
    const { certificate } = this.#settings;
    const server = certificate === undefined ? this.#plainServer() : this.#tlsServer(certificate);
    server.listen(options);
    await once(server, 'listening');
    return server;
  }

  #plainServer(): Server {
    const server = createServer(SOCKET_OPTIONS);
    return server.on('connection', (socket) => this.#connections.add(new ServerConnection(socket, this)));
  }

  #tlsServer({ cert, key }: ListenerCertificate): Server {
    const handshakeTimeout = this.limits.headersMs;
    const server = createTlsServer({
      ...SOCKET_OPTIONS,
      cert,
      key,
      handshakeTimeout,
      ALPNProtocols: ['http/1.1'],
    });
    server.on('connection', (socket) => {
      this.#tcpSockets.add(socket);
      socket.once('close', () => this.#tcpSockets.delete(socket));
    });
    server.on('secureConnection', (socket) => this.#connections.add(new ServerConnection(socket, this)));
    // The caller's fault (it spoke plain HTTP, or does not trust the certificate): its socket is closed.
    return server.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  readonly #resetEarlyTurnAways = (): void => {
    this.#earlyTurnAways = 0;
  };

  readonly #checkTimeLimits = (): void => {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.checkTimeLimits(nowMs);
  };
}
