import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { encodeEnvelope } from '../dialects/error-envelope.ts';
import { GatewayError } from '../ir/errors.ts';
import { errorHeaders } from './error-reply.ts';

/** What went wrong before there was a request, by the code that Node gives it. */
const HEAD_PROBLEMS: Readonly<Record<string, () => GatewayError>> = {
  HPE_HEADER_OVERFLOW: () => new GatewayError('headers-too-large', 'Request headers too large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new GatewayError('deadline', 'The request did not arrive in time'),
};

/** The error behind bytes that are no request. */
export function headProblem(code: string | undefined): GatewayError {
  const known = code === undefined ? undefined : HEAD_PROBLEMS[code];
  return known?.() ?? new GatewayError('invalid-request', 'Malformed HTTP request');
}

/** Writes an error on a socket that has no response object, and closes it. */
export function endWithError(
  socket: Duplex,
  error: GatewayError,
  parts: { readonly vendor: string; readonly requestId: string; readonly lingerMs: number },
): void {
  const body = JSON.stringify(encodeEnvelope(error, { vendor: parts.vendor, generationId: null }));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'request-id': parts.requestId,
    'x-request-id': parts.requestId,
    ...errorHeaders(error),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('\r\n')}`;
  endSocket(socket, `${head}\r\n\r\n${body}`, parts.lingerMs);
}

/** Writes the last bytes of a connection and gives them time to leave. */
export function endSocket(socket: Duplex, text: string, lingerMs: number): void {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
