import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** What a proxy does to the connections through it. */
export type ProxyFault =
  /** Nothing. */
  | 'none'
  /** Accepts connections and passes nothing on, in either direction. */
  | 'black-hole'
  /** Resets open connections and refuses new ones. */
  | 'cut';

/** A TCP proxy that cuts, delays and swallows what passes through it. */
export interface TcpProxy {
  readonly port: number;
  /** Delay of everything that the server answers, milliseconds. */
  delayMs: number;
  /** Applies to open connections and to new ones. Connections of a black hole stay dead when it ends. */
  setFault(fault: ProxyFault): void;
  /** Resets the connections that are open now. */
  reset(): void;
  close(): Promise<void>;
}

/** Opens a proxy on this machine that leads to a server. */
export async function openTcpProxy(target: NetConnectOpts): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let fault: ProxyFault = 'none';
  let delayMs = 0;
  const server = createServer((caller) => {
    if (fault === 'cut') {
      caller.on('error', () => {});
      caller.resetAndDestroy();
      return;
    }
    const pair = new Pair(caller, connect(target), () => delayMs);
    if (fault === 'black-hole') pair.swallow();
    pairs.add(pair);
    caller.once('close', () => pairs.delete(pair));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reset = () => {
    for (const pair of pairs) pair.reset();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get delayMs() {
      return delayMs;
    },
    set delayMs(ms) {
      delayMs = ms;
    },
    setFault(next) {
      fault = next;
      if (fault === 'cut') reset();
      if (fault === 'black-hole') for (const pair of pairs) pair.swallow();
    },
    reset,
    async close() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A caller's connection and the server's. */
class Pair {
  readonly #caller: Socket;
  readonly #server: Socket;
  #isSwallowing = false;

  constructor(caller: Socket, server: Socket, delayMs: () => number) {
    this.#caller = caller;
    this.#server = server;
    const later = (work: () => void) => {
      const ms = delayMs();
      if (ms === 0) work();
      else setTimeout(work, ms);
    };
    caller.setNoDelay(true);
    for (const socket of [caller, server]) socket.on('error', () => {});
    caller.on('data', (bytes) => {
      if (!this.#isSwallowing) server.write(bytes);
    });
    server.on('data', (bytes) =>
      later(() => {
        if (!this.#isSwallowing) caller.write(bytes);
      }),
    );
    caller.on('close', () => server.destroy());
    server.on('close', () =>
      later(() => {
        if (!this.#isSwallowing) caller.destroy();
      }),
    );
  }

  /** Passes nothing on from now on. */
  swallow(): void {
    this.#isSwallowing = true;
  }

  reset(): void {
    this.#caller.resetAndDestroy();
    this.#server.destroy();
  }
}
