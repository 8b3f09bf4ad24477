import type { Endpoint } from '../../catalog/catalog.ts';
import type { Usage } from '../../ir/usage.ts';
import type { ConversationKey } from './conversation-key.ts';

/** What is known when a request of a conversation had success. */
export interface PinCase {
  readonly kind: ConversationKey['kind'];
  readonly usage: Pick<Usage, 'cachedTokens' | 'cacheWriteTokens' | 'cacheWrite1hTokens'>;
  readonly endpoint: Pick<Endpoint, 'pricing'>;
  /** The request said itself whom to ask: `provider.order`. */
  readonly hasOrder: boolean;
}

/**
 * Whether a success keeps its conversation where it was. Conversations that the caller named stay; of others it must
 * be worth it: the prompt was cached there, and cached prompts cost less.
 */
export function mayPin({ kind, usage, endpoint, hasOrder }: PinCase): boolean {
  if (hasOrder) return false;
  if (kind === 'explicit') return true;
  const cached = usage.cachedTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return cached > 0 && savesByCaching(endpoint);
}

/** An absent cache price is the prompt price. */
function savesByCaching({ pricing }: Pick<Endpoint, 'pricing'>): boolean {
  const prompt = pricing.prompt ?? 0n;
  return (pricing.input_cache_read ?? prompt) < prompt;
}
