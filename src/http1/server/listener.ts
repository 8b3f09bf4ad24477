import { type AddressInfo, createServer, type Server } from 'node:net';
import { Cohort, type CohortLimits } from '../../kit/loop/cohort.ts';
import { Connection, type ConnectionLimits, type ConnectionOwner, type Refusal } from './connection.ts';
import type { InboundRequest } from './inbound-request.ts';
import { MoreDoors } from './more-doors.ts';
import type { Outgoing } from './outgoing.ts';
import type { PlainRequest } from './plain-request.ts';

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

/** Connections that may wait to be taken in, if the system lets as many: what comes beyond that tries again after a second. */
const BACKLOG = 4096;

/** Connections that may begin a request in one turn: where there are more, those that have begun are not to wait for all of them. */
const ARRIVALS: CohortLimits = { most: 128, newest: 16 };

/**
 * Requests of one turn that are refused as soon as they are read, where there are too many. Not all of them: where a flood is
 * wide, nothing else would be done.
 */
const MOST_REFUSED_AT_ONCE = 32;

/** Connections that may read and drop much of a request after its answer, at the same time. Others do so shortly. */
const MOST_DISCARDING = 64;

/** What a caller has sent is read by so many bytes. */
const READ_BYTES = 64 * 1024;

/** How often what is checked, and by how many sockets connections come in. */
export interface ListenerSettings {
  readonly checkMs: number;
  readonly doors: number;
}

/** Takes connections in, and watches over all of them with one timer. */
export class Listener implements ConnectionOwner {
  readonly limits: ConnectionLimits;
  readonly arrivals = new Cohort<Connection>((connection) => connection.arrive(), ARRIVALS);
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #reception: Reception;
  readonly #settings: ListenerSettings;
  /** All listen in the same place. */
  readonly #servers: Server[] = [];
  #moreDoors: MoreDoors | undefined;
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
    const { checkMs, doors } = this.#settings;
    const server = this.#addServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, BACKLOG, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#watch(server);
    if (doors > 1) {
      this.#moreDoors = new MoreDoors(server, doors - 1, (door) =>
        this.#watch(this.#addServer().listen(door, BACKLOG)),
      );
    }
    // Where something held us up, what came meanwhile is read first: being late was not the callers' fault.
    this.#checking = setInterval(() => setImmediate(this.#check), checkMs).unref();
    const { address, port: bound } = server.address() as AddressInfo;
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
    const alone = this.#moreDoors?.stop();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
    await alone;
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

  #addServer(): Server {
    // A caller that has ended its side still gets its answers. Nothing is read before it can be lent.
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    server.on('connection', (socket) => this.#connections.add(new Connection(socket, this)));
    this.#servers.push(server);
    return server;
  }

  #watch(server: Server): void {
    server.on('error', (error) => this.#reception.failed(error));
  }

  readonly #forgetAsked = (): void => {
    this.#askedAtOnce = 0;
  };

  readonly #check = (): void => {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.check(nowMs);
  };
}
