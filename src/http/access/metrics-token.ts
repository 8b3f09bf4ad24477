import { createHash, timingSafeEqual } from 'node:crypto';
import type { InboundRequest } from '../../net/http1/server/inbound-request.ts';

const BEARER = /^Bearer[ \t]+(\S+)$/i;

/**
 * Whether a request carries `metrics.token`. Compares digests in constant time, and asks no database: metrics must be
 * readable while there is none.
 */
export function carriesToken(request: InboundRequest, token: string | undefined): boolean {
  const [given, second] = request.headerValues('authorization');
  if (token === undefined || given === undefined || second !== undefined) return false;
  return timingSafeEqual(digestOf(BEARER.exec(given)?.[1] ?? ''), digestOf(token));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
