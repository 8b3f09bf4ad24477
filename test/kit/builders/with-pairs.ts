import type { Item, ToolCallItem, ToolResultItem } from '../../../src/ir/items.ts';

/**
 * The items with every call answered and nothing answered that was not called: results go to the calls that are open,
 * in order; those that find none are left out; calls that find none are answered before the next item. Of calls of
 * one turn that share an id, the first stays.
 */
export function withPairs(items: readonly Item[]): Item[] {
  const open: ToolCallItem[] = [];
  const all: Item[] = [];
  let hasResults = false;
  const answerAll = () => {
    hasResults = false;
    for (const { kind, callId } of open.splice(0)) all.push(resultOf(kind, callId));
  };
  for (const item of items) {
    if (item.type === 'tool-result') {
      const call = open.shift();
      hasResults ||= call !== undefined;
      if (call !== undefined) all.push({ ...item, kind: call.kind, callId: call.callId });
      continue;
    }
    if (hasResults || (item.type === 'message' && item.role !== 'assistant')) answerAll();
    if (item.type === 'tool-call') {
      if (open.some(({ callId }) => callId === item.callId)) continue;
      open.push(item);
    }
    all.push(item);
  }
  answerAll();
  return all;
}

function resultOf(kind: ToolResultItem['kind'], callId: string): ToolResultItem {
  return { type: 'tool-result', kind, callId, content: [{ type: 'text', text: 'done' }] };
}
