import type { Item, MessageItem } from '../../../ir/items.ts';

/** True for a prompt of the caller's program rather than of a person. */
export function isSystem(item: Item): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** True for a turn of the messages format that holds settings and no words: other dialects have no place for it. */
export function isOnlySettings({ content, ext }: MessageItem): boolean {
  return content.length === 0 && ext?.messages !== undefined;
}

/** A conversation, split after the system prompts at its front. */
export interface SplitConversation {
  readonly prompts: readonly MessageItem[];
  /** In a conversation of system prompts alone, the last one: upstreams need a turn, so it is sent as the user's. */
  readonly asUser: MessageItem | undefined;
  readonly turns: readonly Item[];
}

/** Splits a conversation before its first turn. */
export function splitSystemPrompts(items: readonly Item[]): SplitConversation {
  const firstTurn = items.findIndex((item) => !isSystem(item));
  if (firstTurn !== -1) {
    const prompts = items.slice(0, firstTurn).filter(isSystem);
    return { prompts, asUser: undefined, turns: items.slice(firstTurn) };
  }
  const prompts = items.filter(isSystem);
  return { prompts: prompts.slice(0, -1), asUser: prompts.at(-1), turns: [] };
}

/** Report detail of a system prompt at upstreams that know only users and assistants. */
export const SYSTEM_BETWEEN_TURNS = 'a system message between turns became user text';

/** Report detail of a system prompt at the end: upstreams answer only a user's turn. */
export const LAST_SYSTEM_AS_USER = 'the last system message became a user message';
