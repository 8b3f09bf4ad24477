import type { Endpoint } from '../../catalog/catalog.ts';
import { cachePricesOf } from '../../catalog/prices/bill.ts';
import type { Usage } from '../../ir/usage.ts';
import type { ConversationKey } from './conversation-key.ts';

export interface PinCase {
  readonly kind: ConversationKey['kind'];
  readonly usage: Pick<Usage, 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'>;
  readonly endpoint: Pick<Endpoint, 'pricing'>;
  /** The request has its own order (`provider.order`). */
  readonly hasOrder: boolean;
}

/**
 * True if a success pins its conversation to the endpoint. A conversation that the caller named is always pinned; any
 * other only if the prompt was cached there and cached tokens cost less.
 */
export function mayPin({ kind, usage, endpoint, hasOrder }: PinCase): boolean {
  if (hasOrder) return false;
  if (kind === 'explicit') return true;
  const cached = usage.cachedTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return cached > 0 && savesByCaching(endpoint);
}

function savesByCaching({ pricing }: Pick<Endpoint, 'pricing'>): boolean {
  return cachePricesOf(pricing).read < (pricing.prompt ?? 0n);
}
