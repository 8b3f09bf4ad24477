import { ConnectionPool } from '../../http1/client/connection-pool.ts';
import { portOf, socketOpener } from '../../http1/client/open-socket.ts';
import { openingOf, withBody } from '../../http1/client/wire-request.ts';
import { type EgressRules, NO_EGRESS_RULES } from '../../kit/net/egress.ts';
import { StaleConnection, type Transport, type TransportCall, type TransportReply } from '../upstream.ts';
import { decompress, type ExpansionLimits } from './decompress.ts';
import { guardedLookup, requirePassage } from './egress-guard.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

/** Bounds of the network transport. */
export interface TransportLimits {
  /**
   * ConnectionPool to one origin; further calls wait for one, at most as long as a connection may take. Not fewer than the
   * requests that may be open at once: this is no limit of its own, but what a machine has ports for.
   */
  readonly connectionsPerOrigin: number;
  /** Origins whose connections are kept; those of the one that was unused longest are closed once their calls have ended. */
  readonly pools: number;
  /** Bytes of an answer's head. */
  readonly headBytes: number;
  /** Bytes of an answer's body on the wire. */
  readonly bodyBytes: number;
  readonly expansion: ExpansionLimits;
  /** Milliseconds that an unused connection is kept: less than the servers in the field keep theirs. */
  readonly keepAliveMs: number;
  /**
   * Milliseconds without a byte after which a connection may carry the next call. A second answer that nobody asked for
   * mostly comes right behind the first; calls that follow sooner go over other connections.
   */
  readonly quietMs: number;
  /**
   * Milliseconds on top of a round trip in which a kept connection that is closed without an answer is taken to have been
   * closed before the request came. As few as this process needs to notice: a request that was worked on is not sent again.
   */
  readonly staleMs: number;
  /** Addresses that are known in parts. */
  readonly addresses: number;
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
  addresses: 1024,
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
  return new NetworkTransport(limits, egress);
}

class NetworkTransport implements Transport {
  readonly #limits: TransportLimits;
  readonly #egress: () => EgressRules;
  readonly #pools: Pools;
  readonly #addresses: Addresses;

  constructor(limits: TransportLimits, egress: () => EgressRules) {
    this.#limits = limits;
    this.#egress = egress;
    this.#pools = new Pools(limits);
    this.#addresses = new Addresses(limits.addresses);
  }

  /**
   * Sends a call. Where it went over a kept connection that the other side had closed meanwhile, one that is repeatable is sent
   * once more, over a new one; another rejects with a `StaleConnection`.
   */
  async open(call: TransportCall): Promise<TransportReply> {
    call.signal.throwIfAborted();
    const { bodyBytes, expansion } = this.#limits;
    const address = this.#addresses.of(call.url);
    const rules = call.isGuarded ? this.#egress() : undefined;
    if (rules !== undefined) requirePassage(address.url, rules);
    const connections = this.#pools.of(address, rules);
    const request = withBody(address.openingWith(call.headers), call.body);
    for (let isAgain = false; ; isAgain = true) {
      const exchange = new UpstreamExchange(call, bodyBytes);
      connections.send(request, exchange);
      try {
        const { status, headers } = await exchange.head();
        const chunks = decompress(exchange, headers['content-encoding'], expansion);
        return { status, headers, chunks };
      } catch (problem) {
        if (!exchange.wasStale || isAgain || call.signal.aborted) throw problem;
        connections.dropIdle();
        if (call.isRepeatable !== true) throw new StaleConnection();
      }
    }
  }

  async close(): Promise<void> {
    this.#pools.close();
  }
}

/** An address in parts: those of a URL are made anew whenever they are asked for. */
class Address {
  readonly url: URL;
  readonly origin: string;
  readonly #host: string;
  readonly #path: string;
  /** Calls that are alike have the same headers, so that they begin alike. */
  #headers: TransportCall['headers'] | undefined;
  #opening = '';

  constructor(text: string) {
    this.url = new URL(text);
    const { origin, host, pathname, search } = this.url;
    this.origin = origin;
    this.#host = host;
    this.#path = pathname + search;
  }

  /** How a request with these headers begins. Throws a TransportProblem where one of them cannot be sent. */
  openingWith(headers: TransportCall['headers']): string {
    if (headers !== this.#headers) {
      this.#opening = openingOf({ method: 'POST', host: this.#host, path: this.#path, headers });
      this.#headers = headers;
    }
    return this.#opening;
  }
}

/** Addresses in parts: the same few are called again and again. */
class Addresses {
  readonly #most: number;
  readonly #known = new Map<string, Address>();

  constructor(most: number) {
    this.#most = most;
  }

  of(text: string): Address {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const address = new Address(text);
    if (this.#known.size >= this.#most) this.#known.clear();
    this.#known.set(text, address);
    return address;
  }
}

interface OpenPool {
  readonly connections: ConnectionPool;
  /** What its connections were made under; undefined for those that nobody has to guard. */
  readonly rules: EgressRules | undefined;
  /** Which of all uses was its last. */
  lastUse: number;
}

/** Bytes that are read from a socket at once. */
const READ_BYTES = 64 * 1024;

/** One pool of connections per origin, guarded and unguarded apart. */
class Pools {
  readonly #limits: TransportLimits;
  readonly #pools = new Map<string, OpenPool>();
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  #uses = 0;

  constructor(limits: TransportLimits) {
    this.#limits = limits;
  }

  of({ origin, url }: Address, rules: EgressRules | undefined): ConnectionPool {
    const key = rules === undefined ? origin : `guarded ${origin}`;
    const open = this.#current(key, rules) ?? this.#add(key, url, rules);
    open.lastUse = ++this.#uses;
    return open.connections;
  }

  close(): void {
    for (const { connections } of this.#pools.values()) connections.destroy();
    this.#pools.clear();
  }

  /** ConnectionPool that were made under other rules are not used any more. */
  #current(key: string, rules: EgressRules | undefined): OpenPool | undefined {
    const open = this.#pools.get(key);
    if (open === undefined || open.rules === rules) return open;
    open.connections.close();
    return undefined;
  }

  #add(key: string, url: URL, rules: EgressRules | undefined): OpenPool {
    if (!this.#pools.has(key) && this.#pools.size >= this.#limits.pools) this.#closeOldest();
    const open: OpenPool = { connections: this.#open(url, rules), rules, lastUse: 0 };
    this.#pools.set(key, open);
    return open;
  }

  #open(url: URL, rules: EgressRules | undefined): ConnectionPool {
    const { headBytes, keepAliveMs, quietMs, staleMs, connectionsPerOrigin } = this.#limits;
    const sockets = socketOpener(url, rules === undefined ? undefined : guardedLookup(portOf(url), rules));
    const plan = { sockets, headBytes, keepAliveMs, quietMs, staleMs, readBuffer: this.#readBuffer };
    return new ConnectionPool(plan, connectionsPerOrigin);
  }

  #closeOldest(): void {
    let oldest: [key: string, pool: OpenPool] | undefined;
    for (const entry of this.#pools) {
      if (oldest === undefined || entry[1].lastUse < oldest[1].lastUse) oldest = entry;
    }
    if (oldest === undefined) return;
    this.#pools.delete(oldest[0]);
    oldest[1].connections.close();
  }
}
