import type { Exchange } from '../../upstream/exchange.ts';
import { Connection, type ConnectionOwner, type ConnectionPlan } from './connection.ts';
import type { WireRequest } from './wire-request.ts';

/** A connection that took longer to be made says more about this process than about the way. */
const LONGEST_ROUND_TRIP_MS = 250;

/** A request that waits for a connection. */
interface Waiting {
  readonly request: WireRequest;
  readonly exchange: Exchange;
}

/**
 * Connections to one origin, one call on each at a time. What was used last is used next, so that those which are not
 * needed any more fall idle and close. Finding one takes the same time however many streams are open. One that has carried an
 * answer is used again only after it was quiet for a while: bytes that come late must not be taken for the next answer.
 */
export class Connections implements ConnectionOwner {
  readonly #plan: ConnectionPlan;
  /** How many there may be; further calls wait for one. */
  readonly #most: number;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** Connections that are not known to be quiet yet, and since when each is free; the first of them for longest. */
  readonly #settling = new Map<Connection, number>();
  #isSettlingTimed = false;
  readonly #waiting: Waiting[] = [];
  /** Closes what was unused for too long: one timer for all, set for the first of them. */
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #isDestroyed = false;
  #roundTripMs = LONGEST_ROUND_TRIP_MS;

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
  send(request: WireRequest, exchange: Exchange): void {
    if (this.#isDestroyed) {
      exchange.giveUp();
      return;
    }
    const connection = this.#take();
    if (connection === undefined) this.#waiting.push({ request, exchange });
    else connection.carry(request, exchange);
  }

  /** Lets the calls that are open end, and closes each connection after its last. */
  close(): void {
    this.#isClosed = true;
    this.dropIdle();
  }

  /** Closes the connections that nobody uses: where one of them was dead the others mostly are too. */
  dropIdle(): void {
    for (const connection of [...this.#idle, ...this.#settling.keys()]) connection.close();
  }

  /** Ends every call at once. */
  destroy(): void {
    this.#isClosed = true;
    this.#isDestroyed = true;
    for (const { exchange } of this.#waiting.splice(0)) exchange.giveUp();
    for (const connection of [...this.#all]) connection.break();
  }

  onFree(connection: Connection, keepMs: number): void {
    const now = performance.now();
    connection.idleUntilMs = now + keepMs;
    this.#settling.set(connection, now);
    if (!this.#isSettlingTimed) this.#settleIn(this.#plan.quietMs);
  }

  onClosed(connection: Connection): void {
    this.#all.delete(connection);
    this.#settling.delete(connection);
    this.#forgetIdle(connection);
    if (this.#idle.length === 0) this.#stopTimer();
    const next = this.#nextWaiting();
    if (next !== undefined) this.send(next.request, next.exchange);
  }

  #take(): Connection | undefined {
    const now = performance.now();
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.idleAt = undefined;
      if (idle.idleUntilMs > now) return idle;
      idle.close();
    }
    return this.#all.size < this.#most ? this.#open() : undefined;
  }

  #open(): Connection {
    const connection = new Connection(this, this.#plan);
    this.#all.add(connection);
    return connection;
  }

  #settleIn(milliseconds: number): void {
    this.#isSettlingTimed = true;
    // Sockets are read after timers and before immediates: what had come when the timer went off is known by then.
    setTimeout(() => setImmediate(this.#useQuiet, performance.now()), milliseconds).unref();
  }

  /** Takes up the connections that were quiet for long enough at a time after which all sockets were read. */
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

  #use(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) connection.carry(next.request, next.exchange);
    else if (this.#isClosed) connection.close();
    else this.#keep(connection);
  }

  #keep(connection: Connection): void {
    const now = performance.now();
    connection.idleAt = this.#idle.push(connection) - 1;
    if (connection.idleUntilMs < this.#timerAtMs) this.#setTimer(connection.idleUntilMs, now);
  }

  #forgetIdle(connection: Connection): void {
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

  /** The call that waits longest, of those that are still wanted. */
  #nextWaiting(): Waiting | undefined {
    let next = this.#waiting.shift();
    while (next?.exchange.isOver === true) next = this.#waiting.shift();
    return next;
  }
}
