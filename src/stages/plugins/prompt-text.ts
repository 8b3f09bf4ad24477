import type { Item, MessageItem, Part } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/** The place of the caller's last message among the items; -1: there is none. */
function lastUserIndex(items: readonly Item[]): number {
  return items.findLastIndex((item) => item.type === 'message' && item.role === 'user');
}

/** Parts that plugins added: one plugin does not search for, or visit, what another found. */
const ADDED = new WeakSet<Part>();

/** The text of the caller's last message; empty if it has none. */
export function lastUserText({ items }: Pick<GenerationRequest, 'items'>): string {
  const message = items[lastUserIndex(items)] as MessageItem | undefined;
  const texts = (message?.content ?? []).flatMap((part) =>
    part.type === 'text' && !ADDED.has(part) ? [part.text] : [],
  );
  return texts.join('\n');
}

/**
 * The request with a text behind the caller's last message. What comes from the web stands where the caller's own words
 * do, and not among the instructions, which have more weight; and the beginning of the prompt stays as providers have
 * cached it.
 */
export function withUserText(request: GenerationRequest, text: string): GenerationRequest {
  const { items } = request;
  const index = lastUserIndex(items);
  const message = items[index] as MessageItem | undefined;
  if (message === undefined) return request;
  const part: Part = { type: 'text', text };
  ADDED.add(part);
  return { ...request, items: items.with(index, { ...message, content: [...message.content, part] }) };
}
