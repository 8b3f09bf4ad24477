import { Client, type Dispatcher } from 'undici';
import type { Exchange } from './exchange.ts';

/** How many connections there may be, and how one is made. */
export interface ConnectionPlan {
  readonly origin: string;
  readonly options: Client.Options;
  /** Further calls wait for one. */
  readonly most: number;
}

/** A connection, and its place among those that nobody uses; undefined while a call is on it. */
interface Connection {
  readonly client: Client;
  idleAt: number | undefined;
}

/**
 * Connections to one origin, one call on each at a time. What was used last is used next, so that those which are not
 * needed any more fall idle and close. Finding one takes the same time however many streams are open.
 */
export class Connections {
  readonly #plan: ConnectionPlan;
  readonly #all = new Set<Connection>();
  readonly #idle: Connection[] = [];
  readonly #waiting: { readonly request: Dispatcher.DispatchOptions; readonly exchange: Exchange }[] = [];
  #isClosed = false;
  #isDestroyed = false;

  constructor(plan: ConnectionPlan) {
    this.#plan = plan;
  }

  /** Sends a request as soon as there is a connection for it. */
  send(request: Dispatcher.DispatchOptions, exchange: Exchange): void {
    if (this.#isDestroyed) {
      exchange.giveUp();
      return;
    }
    const connection = this.#take();
    if (connection === undefined) this.#waiting.push({ request, exchange });
    else this.#sendOn(connection, request, exchange);
  }

  /** Lets the calls that are open end, and closes each connection after its last. */
  close(): void {
    this.#isClosed = true;
    this.dropIdle();
  }

  /** Closes the connections that nobody uses: where one of them was dead the others mostly are too. */
  dropIdle(): void {
    for (const connection of [...this.#idle]) this.#drop(connection);
  }

  /** Ends every call at once. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    this.#isDestroyed = true;
    for (const { exchange } of this.#waiting.splice(0)) exchange.giveUp();
    await Promise.all([...this.#all].map(({ client }) => client.destroy()));
  }

  #take(): Connection | undefined {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      idle.idleAt = undefined;
      return idle;
    }
    return this.#all.size < this.#plan.most ? this.#open() : undefined;
  }

  #open(): Connection {
    const { origin, options } = this.#plan;
    const connection: Connection = { client: new Client(origin, options), idleAt: undefined };
    this.#all.add(connection);
    connection.client.on('disconnect', () => {
      if (connection.idleAt !== undefined) this.#drop(connection);
    });
    return connection;
  }

  #sendOn(connection: Connection, request: Dispatcher.DispatchOptions, exchange: Exchange): void {
    exchange.onOver = (isWell) => this.#release(connection, isWell);
    connection.client.dispatch(request, exchange);
  }

  #release(connection: Connection, isWell: boolean): void {
    const next = this.#nextWaiting();
    if (!isWell || (this.#isClosed && next === undefined)) this.#drop(connection);
    else if (next === undefined) connection.idleAt = this.#idle.push(connection) - 1;
    else this.#sendOn(connection, next.request, next.exchange);
    if (!isWell && next !== undefined) this.send(next.request, next.exchange);
  }

  /** The call that waits longest, of those that are still wanted. */
  #nextWaiting() {
    let next = this.#waiting.shift();
    while (next?.exchange.isOver === true) next = this.#waiting.shift();
    return next;
  }

  #drop(connection: Connection): void {
    this.#all.delete(connection);
    const { idleAt } = connection;
    connection.idleAt = undefined;
    const last = idleAt === undefined ? undefined : this.#idle.pop();
    if (idleAt !== undefined && last !== undefined && last !== connection) {
      this.#idle[idleAt] = last;
      last.idleAt = idleAt;
    }
    void connection.client.destroy();
  }
}
