import type { Catalog } from '../catalog/catalog.ts';
import type { ReadinessParts } from '../contract/envelopes/health.ts';
import type { EndpointServices } from '../endpoints/services.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { RefusalLog } from '../gateway/observers/refusal-log.ts';
import type { IdSource } from '../kit/ids.ts';
import type { TrustedProxies } from '../kit/net/client-address.ts';
import type { Clock } from '../kit/time/clock.ts';
import type { Generations } from '../manage/generations/generations.ts';
import type { Sessions } from '../manage/sessions/sessions.ts';
import type { McpOffers } from '../mcp/server/offered-tool.ts';
import type { InboundRequest } from '../net/http1/server/inbound-request.ts';
import type { ListenerCertificate } from '../net/http1/server/listener.ts';
import type { OutboundResponse } from '../net/http1/server/outbound-response.ts';
import type { Limiter } from '../ports/shared/limiter.ts';
import type { CallerDirectory } from './access/authenticate.ts';
import type { CorsRules } from './access/cors.ts';
import type { RateSettings } from './access/rate-limits.ts';
import type { ConsoleFiles } from './console/console-files.ts';

/** Settings of the HTTP layer at one moment; a reload replaces them between requests, never inside one. */
export interface HttpSettings {
  /** The operator's word in identifiers. */
  readonly vendor: string;
  /** Path that the routes answer under, besides `/v1`: starts with a slash, ends without one. */
  readonly basePath: string;
  readonly maxBodyBytes: number;
  /** The gateway's own limit on one generation, from its acceptance on. */
  readonly requestDeadlineMs: number;
  /** Generation requests in flight above which new ones get a 503. */
  readonly maxConcurrentRequests: number;
  /** Memory that all large request bodies in flight may take together. */
  readonly largeBodiesBytes: number;
  readonly rates: RateSettings;
  /** Browser origins that may call; undefined = none. */
  readonly cors: CorsRules | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly areMetricsPublic: boolean;
  /** Secret that reads the metrics without a key; undefined = none. */
  /** Keys whose limits are in `/metrics`. */
  readonly shownKeyLimits: number;
  readonly metricsToken?: string | undefined;
  /** Address of traces, with placeholders; undefined = generations link to none. */
  readonly traceUrl?: string | undefined;
}

export interface HttpLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** How long things may take on a connection, and how much of a head is read. */
export interface HttpTimes {
  /** From a connection's (or request's) first moment to the end of its headers. */
  readonly headersMs: number;
  /** From the end of the headers to the end of the body. */
  readonly bodyMs: number;
  /** From the end of the headers to the end of the body of an upload. */
  readonly uploadMs: number;
  /** How long a query of analytics or datasets may take. */
  readonly queryMs: number;
  /** How often connections are checked against their time limits. */
  readonly checkMs: number;
  /** How long a connection without a request is kept. */
  readonly idleMs: number;
  /** How long the head of a stream waits for the first content. */
  readonly holdHeadersMs: number;
  /** Silence on a stream after which a sign of life is written. */
  readonly silenceMs: number;
  /** How long the gateway may take to wind up an aborted generation, and a reply to reach its reader after that. */
  readonly abortGraceMs: number;
  /** How long a connection stays open after a reply that leaves part of the request unread. */
  readonly lingerMs: number;
  /** How long the rest of a request is read and dropped after its reply, unless many connections do so. */
  readonly discardMs: number;
  readonly maxHeadBytes: number;
}

export const DEFAULT_TIMES: HttpTimes = {
  headersMs: 10_000,
  bodyMs: 30_000,
  uploadMs: 600_000,
  queryMs: 30_000,
  checkMs: 1_000,
  idleMs: 65_000,
  holdHeadersMs: 3_000,
  silenceMs: 10_000,
  abortGraceMs: 1_000,
  lingerMs: 500,
  discardMs: 10_000,
  maxHeadBytes: 16_384,
};

export interface HttpBasics {
  readonly settings: () => HttpSettings;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly log: HttpLog;
  /** All figures of this process, as text; fewer while it is starting. */
  readonly metrics: () => Promise<string>;
  /** Compile a request schema at its first request instead of before the first of all (some 100 ms each). */
  readonly lazySchemas?: boolean;
  /**
   * Sockets that listen on the port, where Node can share one: as many connections are accepted in a turn. 1 by
   * default.
   */
  readonly listeningSockets?: number;
  /** Certificate for HTTPS; absent = plain HTTP. */
  readonly certificate?: ListenerCertificate | undefined;
  /** The console; absent = it was not built, and browsers get a page with addresses. */
  readonly console?: ConsoleFiles | undefined;
  /** Changes to the default limits. */
  readonly times?: Partial<HttpTimes>;
  /**
   * Hands a request to the process that owns the installation, which writes the response. Set in a worker: it serves
   * generations itself and forwards everything else. Absent = all routes are served here.
   */
  readonly forward?: ((request: InboundRequest, response: OutboundResponse) => void) | undefined;
}

/** Further dependencies for serving, which may take long to open. */
export interface HttpServices extends Omit<EndpointServices, 'clock'> {
  readonly catalog: () => Catalog;
  readonly callers: CallerDirectory;
  /** Sign-ins to the console. */
  readonly sessions: Sessions;
  readonly gateway: Gateway;
  /** Notes requests that are refused before the gateway has them. */
  readonly refusals: Pick<RefusalLog, 'note' | 'noteKey' | 'takeOverloaded'>;
  readonly limiter: Limiter;
  readonly mcp: McpOffers;
  readonly generations: Generations;
  /** Events that analytics lack now, in words; null = none. */
  readonly analyticsWarning: () => string | null;
  readonly readiness: () => ReadinessParts;
  /** The account that the installation began with: the operator's. */
  readonly firstAccountId: string;
  /** Why the process must be restarted; null, and where it is absent, it need not be. */
  readonly restartReason?: () => string | null;
}

/** The services that routes of generations use. */
export type GenerationServices = Pick<
  HttpServices,
  'catalog' | 'callers' | 'gateway' | 'refusals' | 'limiter' | 'mcp'
> & {
  readonly sessions: Pick<Sessions, 'find' | 'actingAs'>;
};

export interface HttpDependencies extends HttpBasics, HttpServices {}
