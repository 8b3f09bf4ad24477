import { hash } from 'node:crypto';

/** SHA-256 of a key's secret, lower-case hex: all that is stored of it. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
