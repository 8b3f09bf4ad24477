import { type EgressRules, egressProblem } from '../../kit/net/egress.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { ConnectionPool } from '../http1/client/connection-pool.ts';
import { socketOpener } from '../http1/client/open-socket.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';
import { wireRequest } from '../http1/client/wire-request.ts';
import { decompress } from '../transport/decompress.ts';
import { type LookUpAll, socketGuard } from '../transport/egress-guard.ts';
import { UpstreamExchange } from '../transport/upstream-exchange.ts';
import { EgressProblem } from './egress-problem.ts';

export interface EgressLimits {
  /** Milliseconds for everything: look-ups, connections, redirects and the body. */
  readonly totalMs: number;
  /** Bytes of the body, decompressed; what is beyond is not read. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

export interface EgressRequest {
  /** GET by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly limits: EgressLimits;
  readonly signal: AbortSignal;
  /** Why an address must not be visited, besides the rules: asked for the first one and for every redirect. */
  readonly visitProblem?: (url: URL) => string | undefined;
  /** Shown each piece of the body as it comes; true = this was enough, and the rest is not read. */
  readonly isEnough?: (piece: Uint8Array, headers: EgressReply['headers']) => boolean;
  /** True: of a body that breaks off, or cannot be read, what came of it is enough. */
  readonly takesBrokenBodies?: boolean;
}

export interface EgressReply {
  readonly status: number;
  /** The address that answered, after redirects. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The body is longer than `maxBytes`, or broken. */
  readonly isCut: boolean;
}

/**
 * The way out to addresses besides providers. Neither method rejects with anything but an EgressProblem, or the
 * signal's reason; no message names an address.
 */
export interface Egress {
  /** Fetches an address that a caller, a page or a model named: it must be public, or allowed by the operator. */
  fetch(url: string, request: EgressRequest): Promise<EgressReply>;
  /** Calls an address of the configuration, which may be private. Redirects are not followed. */
  call(url: string, request: Omit<EgressRequest, 'visitProblem'>): Promise<EgressReply>;
}

const HEAD_BYTES = 64 * 1024;

const READ_BYTES = 64 * 1024;

/** Most bytes out for each compressed byte in, once more than `freeBytes` came out. */
const EXPANSION = { maxRatio: 200, freeBytes: 1024 * 1024 };

const MAX_CONNECT_MS = 10_000;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Redirects after which the request is sent again as it was; the others make a GET of it. */
const KEEPING_METHOD: ReadonlySet<number> = new Set([307, 308]);

/** Headers that may follow a redirect to another origin. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'user-agent']);

export function createEgress({
  rules,
  lookUpAll,
}: {
  readonly rules: () => EgressRules;
  /** The system's by default. */
  readonly lookUpAll?: LookUpAll;
}): Egress {
  const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);
  return {
    async fetch(address, request) {
      const deadline = performance.now() + request.limits.totalMs;
      const current = rules();
      let hop: Hop = { url: parseUrl(address), request };
      for (let redirects = 0; ; redirects++) {
        requireVisitable(hop, current);
        const guard = socketGuard(hop.url, current, lookUpAll);
        const reply = await exchange(hop, socketOpener(hop.url, guard), deadline, readBuffer);
        const next = nextHop(hop, reply);
        if (next === undefined) return reply;
        if (redirects >= request.limits.maxRedirects) {
          const { maxRedirects } = request.limits;
          const problem = maxRedirects === 0 ? 'redirects, which is not followed' : 'redirects too often';
          throw new EgressProblem('refused', `the address ${problem}`);
        }
        hop = next;
      }
    },
    call(address, request) {
      const deadline = performance.now() + request.limits.totalMs;
      const url = new URL(address);
      return exchange({ url, request }, socketOpener(url), deadline, readBuffer);
    },
  };
}

interface Hop {
  readonly url: URL;
  readonly request: EgressRequest;
}

function parseUrl(address: string, base?: string): URL {
  const url = urlOf(address, base);
  if (url === undefined) throw new EgressProblem('refused', 'the address is not a valid URL');
  return url;
}

function requireVisitable({ url, request }: Hop, rules: EgressRules): void {
  const problem = egressProblem(url, rules);
  if (problem !== undefined) throw new EgressProblem('refused', `the URL ${problem}`);
  const own = request.visitProblem?.(url);
  if (own !== undefined) throw new EgressProblem('refused', own);
}

/** Where a reply leads; undefined: it is the answer. */
function nextHop({ url, request }: Hop, { status, headers }: EgressReply): Hop | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  const next = parseUrl(location, url.href);
  const { method, body, headers: sent, ...rest } = request;
  const isSameOrigin = next.origin === url.origin;
  const kept = {
    ...rest,
    ...(sent !== undefined && { headers: isSameOrigin ? sent : harmless(sent) }),
  };
  const hasBody = method === 'POST' || method === 'PUT';
  if (!KEEPING_METHOD.has(status) || !hasBody) return { url: next, request: kept };
  // A body may hold what only the first address should know.
  if (!isSameOrigin) throw new EgressProblem('refused', 'the address redirects to another server');
  return { url: next, request: { ...kept, method, ...(body !== undefined && { body }) } };
}

function harmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.has(name.toLowerCase())),
  );
}

/** One exchange over a connection of its own. */
async function exchange(
  { url, request }: Hop,
  sockets: ReturnType<typeof socketOpener>,
  deadline: number,
  readBuffer: Buffer,
): Promise<EgressReply> {
  const { method = 'GET', headers: sent = {}, body = '', signal } = request;
  signal.throwIfAborted();
  const leftMs = deadline - performance.now();
  if (leftMs <= 0) throw new EgressProblem('timeout', 'no answer within the time limit', true);
  const timeouts = {
    connect: Math.min(leftMs, MAX_CONNECT_MS),
    firstByte: leftMs,
    idle: leftMs,
    total: leftMs,
  };
  const connections = new ConnectionPool(
    { sockets, headBytes: HEAD_BYTES, keepAliveMs: 0, quietMs: 0, staleMs: 0, readBuffer },
    1,
  );
  try {
    const { host, pathname, search } = url;
    const wire = wireRequest({ method, host, path: pathname + search, headers: sent, body });
    const open = new UpstreamExchange({ timeouts, signal }, Number.POSITIVE_INFINITY);
    connections.send(wire, open);
    const { status, headers } = await open.head();
    const isRedirect = REDIRECTS.has(status) && headers.location !== undefined;
    const expansion = { ...EXPANSION, maxBytes: Number.POSITIVE_INFINITY };
    const read = isRedirect
      ? { bytes: Buffer.alloc(0), isCut: false }
      : await beginningOf(decompress(open, headers['content-encoding'], expansion), request, headers);
    return { status, url: url.href, headers, ...read };
  } catch (problem) {
    throw signal.aborted ? signal.reason : egressProblemOf(problem);
  } finally {
    connections.destroy();
  }
}

async function beginningOf(
  chunks: AsyncIterable<Uint8Array>,
  { limits: { maxBytes }, isEnough, takesBrokenBodies, signal }: EgressRequest,
  headers: EgressReply['headers'],
): Promise<Pick<EgressReply, 'bytes' | 'isCut'>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let isBroken = false;
  try {
    for await (const chunk of chunks) {
      const room = maxBytes - bytes;
      pieces.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      bytes += chunk.length;
      if (bytes > maxBytes || isEnough?.(chunk, headers) === true) break;
    }
  } catch (problem) {
    if (takesBrokenBodies !== true || signal.aborted) throw problem;
    isBroken = true;
  }
  return { bytes: Buffer.concat(pieces), isCut: isBroken || bytes > maxBytes };
}

function egressProblemOf(problem: unknown): unknown {
  if (!(problem instanceof TransportProblem)) return problem;
  const isLate = problem.reason === 'timeout' || problem.reason === 'total';
  return new EgressProblem(isLate ? 'timeout' : 'unreachable', problem.message, problem.isUnsent);
}
