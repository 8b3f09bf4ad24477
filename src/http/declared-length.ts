import type { IncomingMessage } from 'node:http';

/** True when a request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || declaredLength(request) > 0;
}

/** Bytes that the request announces; 0 when it does not say. */
export function declaredLength(request: IncomingMessage): number {
  return Number(request.headers['content-length'] ?? 0);
}
