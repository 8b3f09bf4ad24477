import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../ir/errors.ts';

const VERSIONS: ReadonlySet<string> = new Set(['1.0', '1.1']);

/**
 * Why a request cannot be trusted to end where we think it does, if so: a server before us may read it differently, and
 * take part of its body for the next request.
 */
export function framingProblem({ httpVersion, headers }: IncomingMessage): GatewayError | undefined {
  const coding = headers['transfer-encoding'];
  if (!VERSIONS.has(httpVersion)) return problem(`HTTP/${httpVersion} is not supported: use HTTP/1.1`);
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') return problem('Transfer-Encoding: must not be given with HTTP/1.0');
  return coding.trim().toLowerCase() === 'chunked'
    ? undefined
    : problem('Transfer-Encoding: must be chunked and nothing else');
}

function problem(message: string): GatewayError {
  return new GatewayError('invalid-request', message);
}
