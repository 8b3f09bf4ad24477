import type { Expiry } from '../../upstream/deadlines.ts';
import { GUARD_MESSAGE, REFUSED_BY_GUARD } from '../../upstream/guard.ts';
import { TransportProblem, type TransportReason } from '../../upstream/upstream.ts';

/** What the caller is told about each time limit. */
const EXPIRY_MESSAGES: Readonly<Record<Expiry, string>> = {
  connect: 'no connection within the time limit',
  firstByte: 'no answer within the time limit',
  idle: 'the answer stalled',
  total: 'the answer took too long',
};

/** The problem of a time limit that ran out. */
export function expiryProblem(expiry: Expiry): TransportProblem {
  return new TransportProblem(expiry === 'total' ? 'total' : 'timeout', EXPIRY_MESSAGES[expiry]);
}

type Row = readonly [codes: RegExp, reason: TransportReason, message: string];

/** Error codes of sockets and of TLS, and what each means. First match wins. */
const ROWS: readonly Row[] = [
  [new RegExp(`^${REFUSED_BY_GUARD}$`), 'connect', GUARD_MESSAGE],
  [/^ECONNREFUSED$/, 'connect', 'connection refused'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'connect', 'host name not found'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, 'connect', 'network unreachable'],
  [/^ETIMEDOUT$/, 'timeout', EXPIRY_MESSAGES.connect],
  [/CERT|^UNABLE_TO_|ALTNAME|SELF_SIGNED|^HOSTNAME_MISMATCH$/, 'connect', 'certificate not trusted'],
  [/^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, 'connect', 'TLS handshake failed'],
];

/** An error of the network layers as a problem. Drops the error itself: it names addresses. */
export function socketProblem(error: unknown, connected: boolean): TransportProblem {
  const code = codeOf(error);
  const row = ROWS.find(([codes]) => codes.test(code));
  if (row !== undefined) return new TransportProblem(row[1], row[2]);
  return connected
    ? new TransportProblem('reset', 'connection closed before the answer ended')
    : new TransportProblem('connect', 'connection failed');
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
