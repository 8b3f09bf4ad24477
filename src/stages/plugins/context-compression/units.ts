import type { Item } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { textAt } from '../../../kit/json/members.ts';

/** Items that stay or go together, in order. */
export type ItemUnit = readonly Item[];

/**
 * The items of a conversation in units. A call of a tool and its result are in one, with everything between them, so
 * that pairs are never split; reasoning is in one with what follows it.
 */
export function unitsOf(items: readonly Item[]): ItemUnit[] {
  const lastOf = new Map<string, number>();
  items.forEach((item, index) => {
    const pair = pairOf(item);
    if (pair !== undefined) lastOf.set(pair, index);
  });
  const units: Item[][] = [];
  let unit: Item[] = [];
  let end = -1;
  items.forEach((item, index) => {
    unit.push(item);
    const pair = pairOf(item);
    end = Math.max(end, (pair === undefined ? undefined : lastOf.get(pair)) ?? index);
    if (item.type === 'reasoning') end = Math.max(end, index + 1);
    if (index < end && index < items.length - 1) return;
    units.push(unit);
    unit = [];
  });
  return units;
}

/** The id that a call and its result share. */
function pairOf(item: Item): string | undefined {
  switch (item.type) {
    case 'tool-call':
    case 'tool-result':
      return item.callId;
    case 'opaque':
      return pairOfUnmodelled(item.value);
    default:
      return undefined;
  }
}

/** Calls and results of tools that the gateway does not model name each other in one of these members. */
function pairOfUnmodelled(value: JsonObject): string | undefined {
  return textAt(value, 'call_id') ?? textAt(value, 'tool_use_id') ?? textAt(value, 'id');
}

/** Instructions: they are never left out. */
export function isInstructions(unit: ItemUnit): boolean {
  return unit.some(
    (item) => item.type === 'message' && (item.role === 'system' || item.role === 'developer'),
  );
}

/** Messages of a unit, as upstreams count them: a result of a tool is one. */
export function messagesIn(unit: ItemUnit): number {
  return unit.filter((item) => item.type !== 'reasoning' && item.type !== 'tool-call').length;
}

/** The model speaks, and answers nothing of a tool. */
export function isAnswer(unit: ItemUnit): boolean {
  return unit.every(
    (item) => item.type === 'reasoning' || (item.type === 'message' && item.role === 'assistant'),
  );
}
