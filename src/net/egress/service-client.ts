import {
  type ServiceClient,
  type ServiceReply,
  type ServiceRequest,
  ServiceUnreachable,
} from '../../kit/net/service-client.ts';
import { ConnectionPool } from '../http1/client/connection-pool.ts';
import { socketOpener } from '../http1/client/open-socket.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';
import { type WireRequest, wireRequest } from '../http1/client/wire-request.ts';
import { UpstreamExchange } from '../transport/upstream-exchange.ts';

/** Connections to a service; further requests wait, as long as `MAX_CONNECT_MS`. */
const MAX_CONNECTIONS = 32;

const MAX_CONNECT_MS = 5_000;

const POOL_SETTINGS = { headBytes: 64 * 1024, keepAliveMs: 2_500, quietMs: 5, staleMs: 2 };

const READ_BYTES = 64 * 1024;

/**
 * Opens a client for a service of the operator, such as a database with an HTTP interface. Its address may be private.
 * Redirects are not followed. `origin` is scheme, host and port.
 */
export function openServiceClient(origin: string): ServiceClient {
  const url = new URL(origin);
  const pool = new ConnectionPool(
    { ...POOL_SETTINGS, sockets: socketOpener(url), readBuffer: Buffer.allocUnsafeSlow(READ_BYTES) },
    MAX_CONNECTIONS,
  );
  return {
    async call(request) {
      const { method, path, headers = {}, body = '' } = request;
      const signal = request.signal ?? new AbortController().signal;
      signal.throwIfAborted();
      const wire = wireRequest({ method, host: url.host, path, headers, body });
      try {
        return await exchanged(pool, wire, request, signal);
      } catch (problem) {
        throw signal.aborted ? signal.reason : unreachableOf(problem);
      }
    },
    close: () => pool.destroy(),
  };
}

/** Sends a request. If a reused connection was closed before it came, it is sent once more over a new one. */
async function exchanged(
  pool: ConnectionPool,
  wire: WireRequest,
  { totalMs, silenceMs = totalMs, maxBytes }: ServiceRequest,
  signal: AbortSignal,
): Promise<ServiceReply> {
  const timeouts = {
    connect: Math.min(silenceMs, MAX_CONNECT_MS),
    firstByte: silenceMs,
    idle: silenceMs,
    total: totalMs,
  };
  for (let isRetry = false; ; isRetry = true) {
    const exchange = new UpstreamExchange({ timeouts, signal }, maxBytes);
    pool.send(wire, exchange);
    try {
      const { status, headers } = await exchange.head();
      const pieces: Uint8Array[] = [];
      for await (const piece of exchange) pieces.push(piece);
      return { status, headers, bytes: Buffer.concat(pieces) };
    } catch (problem) {
      if (isRetry || !exchange.wasStale || signal.aborted) throw problem;
      pool.dropIdle();
    }
  }
}

function unreachableOf(problem: unknown): unknown {
  if (!(problem instanceof TransportProblem)) return problem;
  return new ServiceUnreachable(problem.message, problem.systemCode ?? problem.reason);
}
