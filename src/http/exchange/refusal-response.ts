import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { HeadRefusal } from '../../net/http1/server/connection.ts';
import { headerLine, type ResponseHeadWriter } from '../../net/http1/server/response-head-writer.ts';
import { errorHeaders } from './error-reply.ts';

const ERROR_OF_REFUSAL: Readonly<Record<HeadRefusal, () => GatewayError>> = {
  malformed: () => new GatewayError('invalid-request', 'Malformed HTTP request'),
  'too-large': () => new GatewayError('headers-too-large', 'Request headers too large'),
  late: () => new GatewayError('deadline', 'The request did not arrive in time'),
  connect: () => new GatewayError('method-not-allowed', 'CONNECT is not supported'),
};

/** Head and body of the response to bytes that could not be parsed as a request; the connection closes after it. */
export function refusalResponse(
  refusal: HeadRefusal,
  parts: { readonly vendor: string; readonly requestId: string; readonly heads: ResponseHeadWriter },
): string {
  const error = ERROR_OF_REFUSAL[refusal]();
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
