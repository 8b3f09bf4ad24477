import type { Endpoint } from '../../catalog/catalog.ts';
import { takesCall, takesThoughts } from '../../dialects/shared/reasoning/seal-takers.ts';
import type { Item, ReasoningItem, ToolCallItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { dialectOf } from '../../upstream/call/call.ts';

/**
 * Tells the endpoints that keep custody of a conversation's thoughts: those that get its newest seal back byte for byte.
 * With anybody else the model would have to go on without what it thought before. Undefined when nothing is sealed.
 */
export function custodyOf({
  items,
  format,
}: Pick<GenerationRequest, 'items' | 'format'>): ((endpoint: Endpoint) => boolean) | undefined {
  const newest = items.findLast(isSealed);
  if (newest === undefined) return undefined;
  return ({ provider }) => {
    const dialect = dialectOf(provider, format);
    return newest.type === 'reasoning' ? takesThoughts(dialect, newest) : takesCall(dialect, newest, format);
  };
}

function isSealed(item: Item): item is ReasoningItem | ToolCallItem {
  if (item.type === 'tool-call') return isSeal(item.signature);
  return item.type === 'reasoning' && (isSeal(item.signature) || isSeal(item.encrypted));
}

function isSeal(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
