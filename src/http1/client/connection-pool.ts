import {
  ClientConnection,
  type ClientExchange,
  type ConnectionOwner,
  type ConnectionPlan,
} from './connection.ts';
import type { WireRequest } from './wire-request.ts';

/** A longer time measures this process and not the network. */
const MAX_ROUND_TRIP_MS = 250;

/** A request that waits for a connection. */
interface Waiting {
  readonly request: WireRequest;
  readonly exchange: ClientExchange;
}

/**
 * Connections to one origin, one request on each at a time. The one used last is used next, so that the others fall
 * idle and close. Finding one takes constant time, however many streams are open. After a response a connection is
 * used again only once it was quiet for a while: bytes that come late must not be taken for the next response.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #plan: ConnectionPlan;
  /** Connections that may be open; further requests wait. */
  readonly #most: number;
  readonly #all = new Set<ClientConnection>();
  readonly #idle: ClientConnection[] = [];
  /** Connections that are not known to be quiet yet, and since when each is free; the longest first. */
  readonly #settling = new Map<ClientConnection, number>();
  #isSettlingTimed = false;
  readonly #waiting: Waiting[] = [];
  /** Closes idle connections: one timer for all, set for the first that expires. */
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #isDestroyed = false;
  #roundTripMs = MAX_ROUND_TRIP_MS;

  constructor(plan: ConnectionPlan, most: number) {
    this.#plan = plan;
    this.#most = most;
  }

  get roundTripMs(): number {
    return this.#roundTripMs;
  }

  onConnected(milliseconds: number): void {
    this.#roundTripMs = Math.min(this.#roundTripMs, milliseconds);
  }

  /** Sends a request as soon as there is a connection for it. */
  send(request: WireRequest, exchange: ClientExchange): void {
    if (this.#isDestroyed) {
      exchange.giveUp();
      return;
    }
    const connection = this.#take();
    if (connection === undefined) this.#waiting.push({ request, exchange });
    else connection.carry(request, exchange);
  }

  /** Lets open requests end, and closes each connection after its last. */
  close(): void {
    this.#isClosed = true;
    this.dropIdle();
  }

  /** Closes the idle connections: if one of them was dead, the others mostly are too. */
  dropIdle(): void {
    for (const connection of [...this.#idle, ...this.#settling.keys()]) connection.close();
  }

  /** Fails all requests at once. */
  destroy(): void {
    this.#isClosed = true;
    this.#isDestroyed = true;
    for (const { exchange } of this.#waiting.splice(0)) exchange.giveUp();
    for (const connection of [...this.#all]) connection.break();
  }

  onFree(connection: ClientConnection, keepMs: number): void {
    const now = performance.now();
    connection.idleUntilMs = now + keepMs;
    this.#settling.set(connection, now);
    if (!this.#isSettlingTimed) this.#settleIn(this.#plan.quietMs);
  }

  onClosed(connection: ClientConnection): void {
    this.#all.delete(connection);
    this.#settling.delete(connection);
    this.#forgetIdle(connection);
    if (this.#idle.length === 0) this.#stopTimer();
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
    return this.#all.size < this.#most ? this.#open() : undefined;
  }

  #open(): ClientConnection {
    const connection = new ClientConnection(this, this.#plan);
    this.#all.add(connection);
    return connection;
  }

  #settleIn(milliseconds: number): void {
    this.#isSettlingTimed = true;
    // The event loop reads sockets between timers and immediates: bytes that had come when the timer fired are known
    // by then.
    setTimeout(() => setImmediate(this.#useQuiet, performance.now()), milliseconds).unref();
  }

  /** Reuses the connections that were quiet for `quietMs` at a time after which all sockets were read. */
  readonly #useQuiet = (readSinceMs: number): void => {
    const { quietMs } = this.#plan;
    this.#isSettlingTimed = false;
    for (const [connection, freeSinceMs] of this.#settling) {
      const leftMs = freeSinceMs + quietMs - readSinceMs;
      if (leftMs > 0) {
        this.#settleIn(Math.ceil(leftMs));
        return;
      }
      this.#settling.delete(connection);
      this.#use(connection);
    }
  };

  #use(connection: ClientConnection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) connection.carry(next.request, next.exchange);
    else if (this.#isClosed) connection.close();
    else this.#keep(connection);
  }

  #keep(connection: ClientConnection): void {
    const now = performance.now();
    connection.idleAt = this.#idle.push(connection) - 1;
    if (connection.idleUntilMs < this.#timerAtMs) this.#setTimer(connection.idleUntilMs, now);
  }

  #forgetIdle(connection: ClientConnection): void {
    const { idleAt } = connection;
    connection.idleAt = undefined;
    const last = idleAt === undefined ? undefined : this.#idle.pop();
    if (idleAt === undefined || last === undefined || last === connection) return;
    this.#idle[idleAt] = last;
    last.idleAt = idleAt;
  }

  #setTimer(atMs: number, now: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(this.#closeUnused, Math.ceil(atMs - now)).unref();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  readonly #closeUnused = (): void => {
    const now = performance.now();
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    for (const connection of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= now)) connection.close();
    let firstAtMs = Number.POSITIVE_INFINITY;
    for (const { idleUntilMs } of this.#idle) firstAtMs = Math.min(firstAtMs, idleUntilMs);
    if (this.#idle.length > 0) this.#setTimer(firstAtMs, now);
  };

  /** The request that waits longest and is still wanted. */
  #nextWaiting(): Waiting | undefined {
    let next = this.#waiting.shift();
    while (next?.exchange.isOver === true) next = this.#waiting.shift();
    return next;
  }
}
