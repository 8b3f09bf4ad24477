import { type EgressRules, NO_EGRESS_RULES } from '../../kit/net/egress.ts';
import { ConnectionPool } from '../http1/client/connection-pool.ts';
import { socketOpener } from '../http1/client/open-socket.ts';
import { headStartOf, type WireRequest, withBody } from '../http1/client/wire-request.ts';
import { decompress, type ExpansionLimits } from './decompress.ts';
import { requireAllowedUrl, socketGuard } from './egress-guard.ts';
import { mayCallAgain } from './may-call-again.ts';
import {
  StaleConnection,
  type Transport,
  type TransportCall,
  type TransportReply,
} from './transport-call.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

export interface TransportLimits {
  /**
   * Open connections to one origin; further calls wait, as long as `timeouts.connect`. Must not be lower than the
   * number of generations in flight: it stands for the ports that a machine has, and limits nothing else.
   */
  readonly connectionsPerOrigin: number;
  /** Origins with a pool; beyond that the pool unused for longest is closed, once its calls have ended. */
  readonly pools: number;
  readonly headBytes: number;
  /** Bytes of a response's body on the wire. */
  readonly bodyBytes: number;
  readonly expansion: ExpansionLimits;
  /** Milliseconds that an unused connection is kept: less than servers in the field keep theirs. */
  readonly keepAliveMs: number;
  /**
   * Milliseconds without a byte after which a connection may be reused. An unsolicited second response mostly comes
   * right behind the first; until then calls go over other connections.
   */
  readonly quietMs: number;
  /**
   * A reused connection that closes without a response within a round trip and this many milliseconds counts as closed
   * before the request came. As few as this process needs to notice: a request that was worked on is not sent again.
   */
  readonly staleMs: number;
  readonly cachedUrls: number;
}

const MEBIBYTE = 1024 * 1024;

export const TRANSPORT_LIMITS: TransportLimits = {
  connectionsPerOrigin: 65_536,
  pools: 256,
  headBytes: 64 * 1024,
  bodyBytes: 512 * MEBIBYTE,
  expansion: { maxBytes: 512 * MEBIBYTE, maxRatio: 200, freeBytes: MEBIBYTE },
  keepAliveMs: 4000,
  quietMs: 5,
  staleMs: 2,
  cachedUrls: 1024,
};

/**
 * Sends calls over HTTP/1.1 with pooled connections. Certificates are verified, redirects are not followed, and no
 * error names an address.
 */
export function createNetworkTransport(
  limits: TransportLimits = TRANSPORT_LIMITS,
  /** The current rules: where guarded calls may go besides the public internet. */
  egress: () => EgressRules = () => NO_EGRESS_RULES,
): Transport {
  return new NetworkTransport(limits, egress);
}

class NetworkTransport implements Transport {
  readonly #limits: TransportLimits;
  readonly #egress: () => EgressRules;
  readonly #pools: OriginPools;
  readonly #urls: UrlCache;

  constructor(limits: TransportLimits, egress: () => EgressRules) {
    this.#limits = limits;
    this.#egress = egress;
    this.#pools = new OriginPools(limits);
    this.#urls = new UrlCache(limits.cachedUrls);
  }

  /**
   * Sends a call. If it went over a reused connection that the server had closed, a repeatable call is sent once more
   * over a new one; others reject with a `StaleConnection`.
   */
  open(call: TransportCall): Promise<TransportReply> {
    try {
      call.signal.throwIfAborted();
      const target = this.#urls.of(call.url);
      const rules = call.isGuarded ? this.#egress() : undefined;
      if (rules !== undefined) requireAllowedUrl(target.url, rules);
      const connections = this.#pools.of(target, rules);
      const request = withBody(target.headStartWith(call.headers), call.body);
      return this.#send(call, request, connections, false);
    } catch (problem) {
      return Promise.reject(problem);
    }
  }

  #send(
    call: TransportCall,
    request: WireRequest,
    connections: ConnectionPool,
    isRetry: boolean,
  ): Promise<TransportReply> {
    const { bodyBytes, expansion } = this.#limits;
    const exchange = new UpstreamExchange(call, bodyBytes);
    connections.send(request, exchange);
    return exchange.head().then(
      ({ status, headers }) => {
        const chunks = decompress(exchange, headers['content-encoding'], expansion);
        return { status, headers, chunks };
      },
      (problem) => {
        const mayRetry = mayCallAgain({ upstreamStatus: 0, isStale: exchange.wasStale });
        if (!mayRetry || isRetry || call.signal.aborted) throw problem;
        connections.dropIdle();
        if (call.isRepeatable !== true) throw new StaleConnection();
        return this.#send(call, request, connections, true);
      },
    );
  }

  async close(): Promise<void> {
    this.#pools.close();
  }
}

/** A parsed URL whose parts are read once: the getters of `URL` build a string at each call. */
class CachedUrl {
  readonly url: URL;
  readonly origin: string;
  readonly #host: string;
  readonly #path: string;
  /** The last headers (similar calls share the object), and the head start written for them. */
  #headers: TransportCall['headers'] | undefined;
  #headStart = '';

  constructor(text: string) {
    this.url = new URL(text);
    const { origin, host, pathname, search } = this.url;
    this.origin = origin;
    this.#host = host;
    this.#path = pathname + search;
  }

  /** The head of a request up to its length. Throws a TransportProblem if a header cannot be sent. */
  headStartWith(headers: TransportCall['headers']): string {
    if (headers !== this.#headers) {
      this.#headStart = headStartOf({ method: 'POST', host: this.#host, path: this.#path, headers });
      this.#headers = headers;
    }
    return this.#headStart;
  }
}

/** Parsed URLs: the same few are called again and again. */
class UrlCache {
  readonly #maxUrls: number;
  readonly #known = new Map<string, CachedUrl>();

  constructor(maxUrls: number) {
    this.#maxUrls = maxUrls;
  }

  of(text: string): CachedUrl {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const url = new CachedUrl(text);
    if (this.#known.size >= this.#maxUrls) this.#known.clear();
    this.#known.set(text, url);
    return url;
  }
}

interface OpenPool {
  readonly connections: ConnectionPool;
  /** The rules that its connections were made under; undefined for unguarded calls. */
  readonly rules: EgressRules | undefined;
  /** Number of its last use, counted over all pools. */
  lastUse: number;
}

/** Most bytes of one read from a socket. */
const READ_BYTES = 64 * 1024;

/** One pool of connections per origin; guarded and unguarded calls have separate ones. */
class OriginPools {
  readonly #limits: TransportLimits;
  readonly #pools = new Map<string, OpenPool>();
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  #uses = 0;

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  of({ origin, url }: CachedUrl, rules: EgressRules | undefined): ConnectionPool {
    const key = rules === undefined ? origin : `guarded ${origin}`;
    const open = this.#current(key, rules) ?? this.#add(key, url, rules);
    open.lastUse = ++this.#uses;
    return open.connections;
  }

  close(): void {
    for (const { connections } of this.#pools.values()) connections.destroy();
    this.#pools.clear();
  }

  /** The pool for these rules; one that was made under other rules is closed. */
  #current(key: string, rules: EgressRules | undefined): OpenPool | undefined {
    const open = this.#pools.get(key);
    if (open === undefined || open.rules === rules) return open;
    open.connections.close();
    return undefined;
  }

  #add(key: string, url: URL, rules: EgressRules | undefined): OpenPool {
    if (!this.#pools.has(key) && this.#pools.size >= this.#limits.pools) this.#closeLeastRecentlyUsed();
    const open: OpenPool = { connections: this.#open(url, rules), rules, lastUse: 0 };
    this.#pools.set(key, open);
    return open;
  }

  #open(url: URL, rules: EgressRules | undefined): ConnectionPool {
    const { headBytes, keepAliveMs, quietMs, staleMs, connectionsPerOrigin } = this.#limits;
    const sockets = socketOpener(url, rules === undefined ? undefined : socketGuard(url, rules));
    const settings = { sockets, headBytes, keepAliveMs, quietMs, staleMs, readBuffer: this.#readBuffer };
    return new ConnectionPool(settings, connectionsPerOrigin);
  }

  #closeLeastRecentlyUsed(): void {
    let oldest: [key: string, pool: OpenPool] | undefined;
    for (const entry of this.#pools) {
      if (oldest === undefined || entry[1].lastUse < oldest[1].lastUse) oldest = entry;
    }
    if (oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    oldest[1].connections.close();
  }
}
