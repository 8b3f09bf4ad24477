import type { InboundRequest } from '../../http1/server/inbound-request.ts';

/** True when a request announces a body. */
export function hasBody({ framing }: InboundRequest): boolean {
  return framing.isChunked || framing.length > 0;
}

/** Bytes that the request announces; 0 when it does not say. */
export function declaredLength({ framing }: InboundRequest): number {
  return framing.length;
}
