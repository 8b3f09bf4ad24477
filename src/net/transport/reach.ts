import { ConnectionPool } from '../http1/client/connection-pool.ts';
import { socketOpener } from '../http1/client/open-socket.ts';
import type { ResponseHead } from '../http1/client/response-parser.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';
import { wireRequest } from '../http1/client/wire-request.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

/** Whether a server answers. */
export type Reach =
  | {
      readonly ok: true;
      readonly status: number;
      readonly milliseconds: number;
      /** How far its clock is ahead of ours, milliseconds; undefined if it sends no `Date`. */
      readonly clockAheadMs: number | undefined;
    }
  /** The problem names no address. */
  | { readonly ok: false; readonly problem: string };

export const NO_ANSWER = 'no answer within the time limit';

/** Only the head of the response is used. */
const BYTES = { head: 16 * 1024, body: 64 * 1024 };

/** Sends a GET without a credential to see whether a server responds; redirects are not followed. Never rejects. */
export async function reach(address: string, limitMs: number): Promise<Reach> {
  const beganAt = performance.now();
  const askedAtMs = Date.now();
  let connections: ConnectionPool | undefined;
  try {
    const url = new URL(address);
    connections = new ConnectionPool(
      {
        sockets: socketOpener(url),
        headBytes: BYTES.head,
        keepAliveMs: 0,
        quietMs: 0,
        staleMs: 0,
        readBuffer: Buffer.allocUnsafeSlow(BYTES.body),
      },
      1,
    );
    const { status, headers } = await head(connections, url, limitMs);
    const milliseconds = performance.now() - beganAt;
    const serverDateMs = Date.parse(String(headers.date));
    return {
      ok: true,
      status,
      milliseconds,
      clockAheadMs: Number.isNaN(serverDateMs) ? undefined : serverDateMs - (askedAtMs + milliseconds / 2),
    };
  } catch (problem) {
    return { ok: false, problem: wordsOf(problem) };
  } finally {
    connections?.destroy();
  }
}

function head(connections: ConnectionPool, url: URL, limitMs: number): Promise<ResponseHead> {
  const timeouts = { connect: limitMs, firstByte: limitMs, idle: limitMs, total: limitMs };
  const exchange = new UpstreamExchange({ timeouts, signal: new AbortController().signal }, BYTES.body);
  const { host, pathname } = url;
  connections.send(wireRequest({ method: 'GET', host, path: pathname, headers: {}, body: '' }), exchange);
  return exchange.head();
}

function wordsOf(problem: unknown): string {
  if (!(problem instanceof TransportProblem)) return 'connection failed';
  return problem.reason === 'timeout' || problem.reason === 'total' ? NO_ANSWER : problem.message;
}
