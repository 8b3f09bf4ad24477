import type { Item, MessageItem } from '../ir/items.ts';

/** Whether an item is a prompt of the caller's program rather than of a person. */
export function isSystem(item: Item): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}
