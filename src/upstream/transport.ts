import { type Dispatcher, Pool } from 'undici';
import { decompress, type ExpansionLimits } from './decompress.ts';
import { Exchange } from './exchange.ts';
import type { Transport, TransportCall, TransportReply } from './upstream.ts';

/** Bounds of the network transport. */
export interface TransportLimits {
  /** Connections to one origin; further calls wait for one, at most as long as a connection may take. */
  readonly connectionsPerOrigin: number;
  /** Pools that are kept; beyond it the one that was unused longest is closed once its calls have ended. */
  readonly pools: number;
  /** Bytes of an answer's head. */
  readonly headBytes: number;
  /** Bytes of an answer's body on the wire. */
  readonly bodyBytes: number;
  readonly expansion: ExpansionLimits;
  /** Milliseconds that an unused connection is kept: less than the servers in the field keep theirs. */
  readonly keepAliveMs: number;
}

const MEBIBYTE = 1024 * 1024;

export const TRANSPORT_LIMITS: TransportLimits = {
  connectionsPerOrigin: 4096,
  pools: 256,
  headBytes: 64 * 1024,
  bodyBytes: 512 * MEBIBYTE,
  expansion: { maxBytes: 512 * MEBIBYTE, maxRatio: 200, freeBytes: MEBIBYTE },
  keepAliveMs: 4000,
};

/**
 * Carries calls over HTTP/1.1 with kept connections. Certificates are verified, redirects are not followed, and no
 * error names an address.
 */
export function createNetworkTransport(limits: TransportLimits = TRANSPORT_LIMITS): Transport {
  const pools = new Pools(limits);
  return {
    async open(call) {
      call.signal.throwIfAborted();
      const url = new URL(call.url);
      const pool = pools.of(url.origin, call.timeouts.connect);
      const exchange = new Exchange(call, limits.bodyBytes);
      pool.dispatch(requestOf(url, call), exchange);
      const { status, headers } = await exchange.head;
      const chunks = decompress(exchange, headers['content-encoding'], limits.expansion);
      return { status, headers, chunks } satisfies TransportReply;
    },
    close: () => pools.close(),
  };
}

function requestOf(url: URL, call: TransportCall): Dispatcher.DispatchOptions {
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method: 'POST',
    // Answers are mostly small events that must not wait in a compressor's buffer.
    headers: { 'accept-encoding': 'identity', ...call.headers },
    body: call.body,
  };
}

/** One pool per origin and connect limit, in order of last use. */
class Pools {
  readonly #limits: TransportLimits;
  readonly #pools = new Map<string, Pool>();

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  of(origin: string, connectMs: number): Pool {
    const key = `${origin} ${connectMs}`;
    const pool = this.#pools.get(key) ?? this.#open(origin, connectMs);
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    this.#closeOldest();
    return pool;
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #open(origin: string, connectMs: number): Pool {
    return new Pool(origin, {
      connections: this.#limits.connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: connectMs, rejectUnauthorized: true },
      keepAliveTimeout: this.#limits.keepAliveMs,
      maxHeaderSize: this.#limits.headBytes,
      // Our own limits are exact and stand still while the reader is slow.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  #closeOldest(): void {
    const [oldest] = this.#pools;
    if (oldest === undefined || this.#pools.size <= this.#limits.pools) return;
    this.#pools.delete(oldest[0]);
    void oldest[1].close();
  }
}
