/**
 * Why an exchange failed. `connect`: no connection was made, so that nothing was sent. `reset`: it was lost after the
 * request was sent, or brought no valid HTTP. `total`: the overall time limit passed; the server may still have been
 * writing.
 */
export type TransportReason = 'connect' | 'reset' | 'timeout' | 'total' | 'too-large' | 'encoding';

/** A failed exchange. Its message never holds an address. */
export class TransportProblem extends Error {
  readonly reason: TransportReason;
  /** Code of the system or of TLS (`ECONNREFUSED`, `CERT_HAS_EXPIRED`); undefined if none was given. */
  readonly systemCode: string | undefined;

  constructor(reason: TransportReason, message: string, cause?: unknown, systemCode?: string) {
    super(message, { cause });
    this.name = 'TransportProblem';
    this.reason = reason;
    this.systemCode = systemCode;
  }

  /** True if no connection was made. One that is lost later may be the server's reaction to the request. */
  get isUnsent(): boolean {
    return this.reason === 'connect' || this.message === NO_CONNECTION_IN_TIME;
  }
}

type Row = readonly [codes: RegExp, reason: TransportReason, message: string];

export const NO_CONNECTION_IN_TIME = 'no connection within the time limit';

/** Error codes of sockets and of TLS while a connection is made, and what each means. First match wins. */
const ROWS: readonly Row[] = [
  [/^ECONNREFUSED$/, 'connect', 'connection refused'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'connect', 'host name not found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, 'connect', 'network unreachable'],
  [/^ETIMEDOUT$/, 'timeout', NO_CONNECTION_IN_TIME],
  [/^CERT_HAS_EXPIRED$/, 'connect', 'certificate expired'],
  [/CERT|^UNABLE_TO_|ALTNAME|SELF_SIGNED|^HOSTNAME_MISMATCH$/, 'connect', 'certificate not trusted'],
  [/^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, 'connect', 'TLS handshake failed'],
];

/**
 * An error of a socket, of TLS or of a look-up as a problem. Keeps only the error's code: its text names addresses.
 * `isConnected`: the connection was made, so that any error means that it was lost.
 */
export function socketProblem(error: unknown, isConnected: boolean): TransportProblem {
  if (error instanceof TransportProblem) return error;
  const code = codeOf(error);
  const systemCode = code === '' ? undefined : code;
  if (isConnected) return closedEarly(systemCode);
  const [, reason, message] = ROWS.find(([codes]) => codes.test(code)) ?? [];
  return new TransportProblem(reason ?? 'connect', message ?? 'connection failed', undefined, systemCode);
}

/** The connection was lost. Without a code of the system the server has closed it, which Node calls a reset too. */
export function closedEarly(systemCode = 'ECONNRESET'): TransportProblem {
  return new TransportProblem('reset', 'connection closed before the answer ended', undefined, systemCode);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
