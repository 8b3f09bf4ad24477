import type { Endpoint } from '../../catalog/catalog.ts';
import { DIALECTS } from '../../dialects/dialects.ts';
import { dialectOf } from '../../dialects/lane.ts';
import { takesCallSeal } from '../../dialects/shared/reasoning/seals-taken.ts';
import type { Item, ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/**
 * Returns the test whether an endpoint has custody of a conversation: it accepts the newest seal byte for byte. At any
 * other endpoint the model would continue without its earlier reasoning. Undefined if nothing is sealed.
 */
export function custodyOf(
  request: Pick<GenerationRequest, 'items' | 'format' | 'formatFacts'>,
): ((endpoint: Endpoint) => boolean) | undefined {
  const newest = request.items.findLast(isSealed);
  if (newest === undefined) return undefined;
  return ({ provider }) => {
    const seals = DIALECTS[dialectOf(provider, request.format)].facts?.seals;
    if (seals === undefined) return false;
    return newest.type === 'reasoning'
      ? seals.ofThoughts(newest, provider.quirks)
      : takesCallSeal(seals, newest, request);
  };
}

function isSealed(item: Item): item is ReasoningItem | ToolCallItem {
  if (item.type === 'tool-call') return isSeal(item.signature);
  return item.type === 'reasoning' && (isSeal(item.signature) || isSeal(item.encrypted));
}

function isSeal(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
