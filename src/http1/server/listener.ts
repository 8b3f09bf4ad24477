import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { Cohort, type CohortLimits } from '../../kit/loop/cohort.ts';
import { Connection, type ConnectionLimits, type ConnectionOwner, type Refusal } from './connection.ts';
import type { InboundRequest } from './inbound-request.ts';
import type { Outgoing } from './outbound-response.ts';
import type { PlainRequest } from './scan-head.ts';

/** What is done with what comes in. */
export interface Reception {
  /** There is no time for more requests of some kinds. */
  isFull(): boolean;
  /** What a request of such a kind is answered; undefined for others. */
  turnAway(request: PlainRequest): string | undefined;
  accept(request: InboundRequest, answer: Outgoing): void;
  refuse(connection: Connection, problem: Refusal): void;
  /** The socket that connections come from failed. */
  failed(error: Error): void;
}

/**
 * Connections that may wait to be taken in, if the system lets as many: what comes beyond that tries again after a
 * second.
 */
const BACKLOG = 4096;

/**
 * Connections that may begin a request in one turn: where there are more, those that have begun are not to wait for
 * all of them.
 */
const ARRIVALS: CohortLimits = { most: 128, newest: 16 };

/**
 * Requests of one turn that are refused as soon as they are read, where there are too many. Not all of them: where a
 * flood is wide, nothing else would be done.
 */
const MOST_REFUSED_AT_ONCE = 32;

/** Connections that may read and drop much of a request after its answer, at the same time. Others do so shortly. */
const MOST_DISCARDING = 64;

/** How often time limits are checked, and how many sockets listen. */
export interface ListenerSettings {
  readonly checkMs: number;
  /**
   * Sockets that listen on the same port, where Node and the system have `reusePort`; else there is one. Node accepts
   * one connection from each in a turn of the event loop.
   */
  readonly listeningSockets: number;
}

/** Node ignores `reusePort` before 22.12 and in 23.0. */
export function hasReusePort(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
}

/** `reusePort` is newer than the types of the oldest Node that we run on. */
type SharedListenOptions = ListenOptions & { readonly reusePort?: boolean };

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Accepts connections, and checks the time limits of all of them with one timer. */
export class Listener implements ConnectionOwner {
  readonly limits: ConnectionLimits;
  readonly arrivals = new Cohort<Connection>((connection) => connection.arrive(), ARRIVALS);
  readonly #reception: Reception;
  readonly #settings: ListenerSettings;
  /** All listen on the same port. */
  #servers: Server[] = [];
  readonly #connections = new Set<Connection>();
  #checking: NodeJS.Timeout | undefined;
  #closesResting = false;
  #discarding = 0;
  /** Of this turn. */
  #askedAtOnce = 0;
  #whenNoneIsLeft: (() => void) | undefined;

  constructor(limits: ConnectionLimits, settings: ListenerSettings, reception: Reception) {
    this.limits = limits;
    this.#settings = settings;
    this.#reception = reception;
  }

  /** Binds; rejects when it cannot. Port 0 picks a free one. */
  async listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    const { checkMs, listeningSockets } = this.#settings;
    // Exclusive: with `reusePort` alone a second gateway could listen on the same port unnoticed.
    const first = await this.#open({ host, port, backlog: BACKLOG });
    this.#servers = [first];
    const { address, port: bound } = first.address() as AddressInfo;
    if (listeningSockets > 1 && hasReusePort()) await this.#share({ host, port: bound, backlog: BACKLOG });
    for (const server of this.#servers) server.on('error', (error) => this.#reception.failed(error));
    // After the sockets were read: if the event loop was held up, bytes that came in time must not count as late.
    this.#checking = setInterval(() => setImmediate(this.#check), checkMs).unref();
    return { host: address, port: bound };
  }

  /** Has all requests accepted that have come by now. */
  takeWhatCame(): void {
    for (const connection of this.#connections) connection.takeWhatCame();
  }

  /** Closes the connections that rest, now and from now on. */
  closeResting(): void {
    this.#closesResting = true;
    for (const connection of this.#connections) if (connection.isResting) connection.destroy();
  }

  /** Takes no more connections in; resolves when the last is closed. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(closed));
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#whenNoneIsLeft = resolve));
    clearInterval(this.#checking);
  }

  destroyConnections(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  isFull(): boolean {
    return this.#reception.isFull();
  }

  refusesAtOnce(): boolean {
    if (!this.#reception.isFull() || this.#askedAtOnce >= MOST_REFUSED_AT_ONCE) return false;
    if (this.#askedAtOnce === 0) setImmediate(this.#forgetAsked);
    this.#askedAtOnce++;
    return true;
  }

  turnAway(request: PlainRequest): string | undefined {
    return this.#reception.turnAway(request);
  }

  accept(request: InboundRequest, answer: Outgoing): void {
    this.#reception.accept(request, answer);
  }

  refuse(connection: Connection, problem: Refusal): void {
    this.#reception.refuse(connection, problem);
  }

  rested(connection: Connection): void {
    if (this.#closesResting) connection.destroy();
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#whenNoneIsLeft?.();
  }

  beginDiscarding(): boolean {
    if (this.#discarding >= MOST_DISCARDING) return false;
    this.#discarding++;
    return true;
  }

  endDiscarding(): void {
    this.#discarding--;
  }

  /** Replaces the exclusive socket by several that share its port; keeps one if the system cannot share. */
  async #share(options: SharedListenOptions): Promise<void> {
    await Promise.all(this.#servers.map(closed));
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
    // A caller that has ended its side still gets its responses.
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('connection', (socket) => this.#connections.add(new Connection(socket, this)));
    server.listen(options);
    await once(server, 'listening');
    return server;
  }

  readonly #forgetAsked = (): void => {
    this.#askedAtOnce = 0;
  };

  readonly #check = (): void => {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.check(nowMs);
  };
}
