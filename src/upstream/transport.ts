import { buildConnector, type Dispatcher, Pool } from 'undici';
import { type EgressRules, NO_EGRESS_RULES } from '../kit/egress.ts';
import { decompress, type ExpansionLimits } from './decompress.ts';
import { Exchange, type Head } from './exchange.ts';
import { guardedLookup, requirePassage } from './guard.ts';
import { markingErrors } from './stale-connection.ts';
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
export function createNetworkTransport(
  limits: TransportLimits = TRANSPORT_LIMITS,
  /** Where guarded calls may go besides the public internet, at the moment. */
  egress: () => EgressRules = () => NO_EGRESS_RULES,
): Transport {
  const pools = new Pools(limits);
  return {
    async open(call) {
      call.signal.throwIfAborted();
      const url = new URL(call.url);
      const rules = call.isGuarded ? egress() : undefined;
      if (rules !== undefined) requirePassage(url, rules);
      const pool = pools.of(url, call.timeouts.connect, rules);
      const { exchange, head } = await openExchange(pool, url, call, limits.bodyBytes);
      const { status, headers } = head;
      const chunks = decompress(exchange, headers['content-encoding'], limits.expansion);
      return { status, headers, chunks } satisfies TransportReply;
    },
    close: () => pools.close(),
  };
}

/** Kept connections that may turn out to be closed, one after the other, before a call fails for it. */
const MOST_STALE = 3;

/** Sends a call; again when the connection was a kept one that the other side had closed meanwhile. */
async function openExchange(
  pool: Pool,
  url: URL,
  call: TransportCall,
  maxBodyBytes: number,
): Promise<{ readonly exchange: Exchange; readonly head: Head }> {
  for (let stale = 0; ; stale++) {
    const exchange = new Exchange(call, maxBodyBytes);
    pool.dispatch(requestOf(url, call), exchange);
    try {
      return { exchange, head: await exchange.head };
    } catch (problem) {
      if (!exchange.wasStale || stale >= MOST_STALE || call.signal.aborted) throw problem;
    }
  }
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

interface OpenPool {
  readonly pool: Pool;
  /** What its connections were made under; undefined for those that nobody has to guard. */
  readonly rules: EgressRules | undefined;
}

/** One pool per origin and connect limit, guarded and unguarded apart, in order of last use. */
class Pools {
  readonly #limits: TransportLimits;
  readonly #pools = new Map<string, OpenPool>();

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  of(url: URL, connectMs: number, rules: EgressRules | undefined): Pool {
    const key = `${url.origin} ${connectMs} ${rules === undefined ? 'unguarded' : 'guarded'}`;
    const open = this.#current(key, rules) ?? { pool: this.#open(url, connectMs, rules), rules };
    this.#pools.delete(key);
    this.#pools.set(key, open);
    this.#closeOldest();
    return open.pool;
  }

  async close(): Promise<void> {
    const open = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(open.map(({ pool }) => pool.destroy()));
  }

  /** Connections that were made under other rules are not used any more. */
  #current(key: string, rules: EgressRules | undefined): OpenPool | undefined {
    const open = this.#pools.get(key);
    if (open === undefined || open.rules === rules) return open;
    void open.pool.close();
    return undefined;
  }

  #open(url: URL, connectMs: number, rules: EgressRules | undefined): Pool {
    const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
    const connect = buildConnector({
      timeout: connectMs,
      rejectUnauthorized: true,
      ...(rules !== undefined && { lookup: guardedLookup(port, rules) }),
    });
    return new Pool(url.origin, {
      connections: this.#limits.connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      connect: (options, callback) => connect(options, markingErrors(callback)),
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
    void oldest[1].pool.close();
  }
}
