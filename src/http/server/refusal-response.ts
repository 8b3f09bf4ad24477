import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import type { Refusal } from '../../http1/server/connection.ts';
import { headerLine, type ResponseHeadWriter } from '../../http1/server/response-head-writer.ts';
import { GatewayError } from '../../ir/errors.ts';
import { errorHeaders } from './error-reply.ts';

/** What is said where there is no request to answer. */
const REFUSALS: Readonly<Record<Refusal, () => GatewayError>> = {
  malformed: () => new GatewayError('invalid-request', 'Malformed HTTP request'),
  'too-large': () => new GatewayError('headers-too-large', 'Request headers too large'),
  late: () => new GatewayError('deadline', 'The request did not arrive in time'),
  connect: () => new GatewayError('method-not-allowed', 'CONNECT is not supported'),
};

/** The last bytes of a connection on which there was no request. */
export function rawError(
  refusal: Refusal,
  parts: { readonly vendor: string; readonly requestId: string; readonly heads: ResponseHeadWriter },
): string {
  const error = REFUSALS[refusal]();
  const body = JSON.stringify(encodeEnvelope(error, { vendor: parts.vendor, generationId: null }));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'request-id': parts.requestId,
    'x-request-id': parts.requestId,
    ...errorHeaders(error),
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => headerLine(name, value));
  return parts.heads.head(error.status, lines.join(''), false) + body;
}
