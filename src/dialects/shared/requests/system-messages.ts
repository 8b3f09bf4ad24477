import type { Item, MessageItem } from '../../../ir/items.ts';

/** Whether an item is a prompt of the caller's program rather than of a person. */
export function isSystem(item: Item): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** What the report says of a system prompt where the upstream knows only users and assistants. */
export const SYSTEM_BETWEEN_TURNS = 'a system message between turns became user text';

/** What the report says of a system prompt at the end: upstreams answer only a user's turn. */
export const LAST_SYSTEM_AS_USER = 'the last system message became a user message';
