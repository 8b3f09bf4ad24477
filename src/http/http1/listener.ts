import { type AddressInfo, createServer, type Server } from 'node:net';
import { Connection, type ConnectionLimits, type ConnectionOwner, type Refusal } from './connection.ts';
import type { InboundRequest } from './inbound-request.ts';
import type { Outgoing } from './outgoing.ts';

/** What is done with what comes in. */
export interface Reception {
  accept(request: InboundRequest, answer: Outgoing): void;
  refuse(connection: Connection, problem: Refusal): void;
  /** The socket that connections come from failed. */
  failed(error: Error): void;
}

/** Takes connections in, and watches over all of them with one timer. */
export class Listener implements ConnectionOwner {
  readonly limits: ConnectionLimits;
  readonly #reception: Reception;
  readonly #server: Server;
  readonly #checkMs: number;
  readonly #connections = new Set<Connection>();
  #checking: NodeJS.Timeout | undefined;
  #closesResting = false;

  constructor(limits: ConnectionLimits, checkMs: number, reception: Reception) {
    this.limits = limits;
    this.#checkMs = checkMs;
    this.#reception = reception;
    // A caller that has ended its side is still told what was wrong with what it sent.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true });
    this.#server.on('connection', (socket) => this.#connections.add(new Connection(socket, this)));
  }

  /** Binds; rejects when it cannot. Port 0 picks a free one. */
  async listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => this.#reception.failed(error));
    // Where something held us up, what came meanwhile is read first: being late was not the callers' fault.
    this.#checking = setInterval(() => setImmediate(this.#check), this.#checkMs).unref();
    const { address, port: bound } = this.#server.address() as AddressInfo;
    return { host: address, port: bound };
  }

  /** Closes the connections that rest, now and from now on. */
  closeResting(): void {
    this.#closesResting = true;
    for (const connection of this.#connections) if (connection.isResting) connection.destroy();
  }

  /** Takes no more connections in; resolves when the last is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        clearInterval(this.#checking);
        resolve();
      });
    });
  }

  destroyConnections(): void {
    for (const connection of this.#connections) connection.destroy();
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
  }

  readonly #check = (): void => {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.check(nowMs);
  };
}
