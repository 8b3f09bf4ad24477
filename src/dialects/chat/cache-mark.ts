import type { CacheMark } from '../../ir/items.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { objectsOf } from '../../kit/json/members.ts';
import { renderCacheMark } from '../shared/requests/gateway-fields.ts';

/** Automatic caching: the messages with the mark on their last text; undefined when there is no text to mark. */
export function withMarkOnLastText(
  messages: readonly JsonObject[],
  mark: CacheMark,
): JsonObject[] | undefined {
  for (let position = messages.length - 1; position >= 0; position--) {
    const message = messages[position];
    const content = markedContent(message?.content, renderCacheMark(mark));
    if (content !== undefined) return messages.with(position, { ...message, content });
  }
  return undefined;
}

function markedContent(content: Json | undefined, mark: JsonObject): JsonObject[] | undefined {
  if (typeof content === 'string') {
    return content === '' ? undefined : [{ type: 'text', text: content, cache_control: mark }];
  }
  const parts = objectsOf(content);
  const last = parts.findLastIndex(({ type }) => type === 'text');
  return last === -1 ? undefined : parts.with(last, { cache_control: mark, ...parts[last] });
}
