import {
  ClientConnection,
  type ClientConnectionOwner,
  type ClientExchange,
  type ConnectionSettings,
} from './connection.ts';
import type { WireRequest } from './wire-request.ts';

/** A longer handshake shows that this process was busy, not that the network is slow. */
const MAX_ROUND_TRIP_MS = 250;

interface Waiting {
  readonly request: WireRequest;
  readonly exchange: ClientExchange;
}

/**
 * Connections to one origin, one exchange on each at a time. The one used last is reused first, so that the others
 * expire. Finding one takes constant time, however many streams are open. After a response a connection settles: it is
 * reused only after `quietMs` without a byte, because bytes that come late must not be taken for the next response.
 */
export class ConnectionPool implements ClientConnectionOwner {
  readonly #settings: ConnectionSettings;
  /** Further requests wait. */
  readonly #maxConnections: number;
  readonly #all = new Set<ClientConnection>();
  readonly #idle: ClientConnection[] = [];
  /** Connections that settle, and since when; the longest first. */
  readonly #settling = new Map<ClientConnection, number>();
  #isSettlingTimed = false;
  readonly #waiting: Waiting[] = [];
  /** One timer for all idle connections, set for the first that expires. */
  #expiryTimer: NodeJS.Timeout | undefined;
  #expiryAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #isDestroyed = false;
  #roundTripMs = MAX_ROUND_TRIP_MS;

  constructor(settings: ConnectionSettings, maxConnections: number) {
    this.#settings = settings;
    this.#maxConnections = maxConnections;
  }

  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  onConnected(milliseconds: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs, milliseconds);
  }

  /** Sends a request over an idle or new connection, or as soon as one is free. */
  send(request: WireRequest, exchange: ClientExchange): void {
    if (this.#isDestroyed) {
      exchange.onNoConnection();
      return;
    }
    const connection = this.#take();
    if (connection === undefined) this.#waiting.push({ request, exchange });
    else connection.startExchange(request, exchange);
  }

  /** Lets open and waiting requests finish; closes each connection that is not needed for them any more. */
  close(): void {
    this.#isClosed = true;
    this.dropIdle();
  }

  /** Closes all idle connections: after one of them was found closed, the others mostly are too. */
  dropIdle(): void {
    for (const connection of [...this.#idle, ...this.#settling.keys()]) connection.close();
  }

  destroy(): void {
    this.#isClosed = true;
    this.#isDestroyed = true;
    for (const { exchange } of this.#waiting.splice(0)) exchange.onNoConnection();
    for (const connection of [...this.#all]) connection.fail();
  }

  onFree(connection: ClientConnection, keepMs: number): void {
    const now = performance.now();
    connection.idleUntilMs = now + keepMs;
    this.#settling.set(connection, now);
    if (!this.#isSettlingTimed) this.#settleIn(this.#settings.quietMs);
  }

  onClosed(connection: ClientConnection): void {
    this.#all.delete(connection);
    this.#settling.delete(connection);
    this.#removeIdle(connection);
    if (this.#idle.length === 0) this.#stopExpiryTimer();
    const next = this.#nextWaiting();
    if (next !== undefined) this.send(next.request, next.exchange);
  }

  #take(): ClientConnection | undefined {
    const now = performance.now();
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.idleAt = undefined;
      if (idle.idleUntilMs > now) return idle;
      idle.close();
    }
    return this.#all.size < this.#maxConnections ? this.#open() : undefined;
  }

  #open(): ClientConnection {
    const connection = new ClientConnection(this, this.#settings);
    this.#all.add(connection);
    return connection;
  }

  #settleIn(milliseconds: number): void {
    this.#isSettlingTimed = true;
    // The event loop reads sockets between timers and immediates: bytes that had come when the timer fired are read
    // before the immediate runs.
    setTimeout(() => setImmediate(this.#releaseQuiet, performance.now()), milliseconds).unref();
  }

  /** Releases the connections that were quiet for `quietMs` at `timerMs`: all sockets were read since. */
  readonly #releaseQuiet = (timerMs: number): void => {
    const { quietMs } = this.#settings;
    this.#isSettlingTimed = false;
    for (const [connection, freeSinceMs] of this.#settling) {
      const leftMs = freeSinceMs + quietMs - timerMs;
      if (leftMs > 0) {
        this.#settleIn(Math.ceil(leftMs));
        return;
      }
      this.#settling.delete(connection);
      this.#release(connection);
    }
  };

  /** Gives a settled connection to the next waiting request, or keeps it idle. */
  #release(connection: ClientConnection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) connection.startExchange(next.request, next.exchange);
    else if (this.#isClosed) connection.close();
    else this.#keepIdle(connection);
  }

  #keepIdle(connection: ClientConnection): void {
    const now = performance.now();
    connection.idleAt = this.#idle.push(connection) - 1;
    if (connection.idleUntilMs < this.#expiryAtMs) this.#setExpiryTimer(connection.idleUntilMs, now);
  }

  /** Removes a connection from the idle ones in constant time: the last one takes its place. */
  #removeIdle(connection: ClientConnection): void {
    const { idleAt } = connection;
    connection.idleAt = undefined;
    const last = idleAt === undefined ? undefined : this.#idle.pop();
    if (idleAt === undefined || last === undefined || last === connection) return;
    this.#idle[idleAt] = last;
    last.idleAt = idleAt;
  }

  #setExpiryTimer(atMs: number, now: number): void {
    clearTimeout(this.#expiryTimer);
    this.#expiryAtMs = atMs;
    this.#expiryTimer = setTimeout(this.#closeExpired, Math.ceil(atMs - now)).unref();
  }

  #stopExpiryTimer(): void {
    clearTimeout(this.#expiryTimer);
    this.#expiryAtMs = Number.POSITIVE_INFINITY;
  }

  readonly #closeExpired = (): void => {
    const now = performance.now();
    this.#expiryAtMs = Number.POSITIVE_INFINITY;
    for (const connection of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= now)) connection.close();
    let firstAtMs = Number.POSITIVE_INFINITY;
    for (const { idleUntilMs } of this.#idle) firstAtMs = Math.min(firstAtMs, idleUntilMs);
    if (this.#idle.length > 0) this.#setExpiryTimer(firstAtMs, now);
  };

  /** The request that has waited longest, without those that have failed meanwhile. */
  #nextWaiting(): Waiting | undefined {
    let next = this.#waiting.shift();
    while (next?.exchange.isOver === true) next = this.#waiting.shift();
    return next;
  }
}
