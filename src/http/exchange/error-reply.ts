import { DIALECTS } from '../../dialects/dialects.ts';
import type { EncodeError } from '../../dialects/shared/answers/error-envelope.ts';
import { GatewayError, toGatewayError } from '../../ir/errors.ts';
import type { HttpLog } from '../dependencies.ts';
import type { HttpExchange } from './http-exchange.ts';

/** No caller is asked to stay away longer. */
const MAX_RETRY_AFTER_SECONDS = 300;

/** After these the rest of the request is not worth reading. */
const CLOSING: ReadonlySet<GatewayError['kind']> = new Set(['payload-too-large', 'deadline']);

/** Answers a request that failed, to a caller that is still there. */
export function replyWithError(
  exchange: HttpExchange,
  thrown: unknown,
  parts: { readonly encodeError: EncodeError; readonly vendor: string; readonly log: HttpLog },
): void {
  const { reply, caller } = exchange;
  const error = masked(toGatewayError(thrown));
  logOwnFault(error, exchange, parts.log);
  if (reply.begun) {
    reply.destroy();
    return;
  }
  if (CLOSING.has(error.kind)) reply.closeConnection();
  const encodeError = speaksMessages(exchange) ? DIALECTS.messages.inbound.encodeError : parts.encodeError;
  const body = encodeError(error, {
    vendor: parts.vendor,
    generationId: exchange.routed ? exchange.requestId : null,
    ...(caller !== undefined && { userId: caller.accountId }),
  });
  reply.json(error.status, body, errorHeaders(error));
}

/** True outside the routes of generations for clients of the messages format: each of their requests has a version. */
function speaksMessages({ isGeneration, request }: HttpExchange): boolean {
  return !isGeneration && request.header('anthropic-version') !== undefined;
}

/** Logs the cause of an internal failure, which the reply does not contain. */
export function logOwnFault(thrown: unknown, exchange: HttpExchange, log: HttpLog): void {
  const error = toGatewayError(thrown);
  if (error.kind !== 'server') return;
  log.error('a request failed inside the gateway', {
    request_id: exchange.requestId,
    error: error.cause ?? error,
  });
}

/** `Retry-After` and what else the error wants in its headers. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const { retryAfterSeconds } = error;
  if (retryAfterSeconds === undefined) return { ...error.headers };
  const seconds = Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(0, Math.ceil(retryAfterSeconds)));
  return { ...error.headers, 'Retry-After': String(seconds) };
}

/** A 500 says nothing about us: what happened is for the log. */
function masked(error: GatewayError): GatewayError {
  if (error.kind !== 'server') return error;
  return new GatewayError('server', 'Internal Server Error', { cause: error.cause ?? error });
}
