import type { NamedOrder } from '../../parts/table/order-choice.tsx';
import { type Sort, sortOf, sortText } from '../../parts/table/sort.ts';

/** What the log can be in order of: names of the interface. */
export type LogSort = 'created_at' | 'latency' | 'duration_ms' | 'cost';

/** Orders that the reader can choose. */
export const LOG_ORDERS: readonly NamedOrder<LogSort>[] = [
  ['created_at', 'newest first', 'oldest first'],
  ['duration_ms', 'longest first', 'shortest first'],
  ['latency', 'slowest to begin first', 'quickest to begin first'],
  ['cost', 'dearest first', 'cheapest first'],
];

/** The order of the log. */
export interface LogOrder {
  readonly by: LogSort;
  readonly isDescending: boolean;
}

const NEWEST_FIRST: LogOrder = { by: 'created_at', isDescending: true };

/** The order of an address; newest first if it names none, or none that there is. */
export function orderOf(query: URLSearchParams): LogOrder {
  const { by, isDescending } = sortOf(query.get('sort')) ?? NEWEST_FIRST;
  const known = LOG_ORDERS.find(([name]) => name === by)?.[0];
  return known === undefined ? NEWEST_FIRST : { by: known, isDescending };
}

/** The order as a parameter of the address; null = the usual one. */
export function orderText(order: Sort): string | null {
  const text = sortText(order);
  return text === sortText(NEWEST_FIRST) ? null : text;
}

/** The order after a click on the head of a column: the largest first, then the smallest. */
export function nextOrder(current: LogOrder, by: LogSort): LogOrder {
  return { by, isDescending: current.by === by ? !current.isDescending : true };
}

/** True if new generations come first: only then can they be added as they come. */
export function isNewestFirst({ by, isDescending }: LogOrder): boolean {
  return by === NEWEST_FIRST.by && isDescending;
}

/** The order as parameters of the interface. */
export function orderParameters({ by, isDescending }: LogOrder): Readonly<Record<string, string>> {
  return {
    ...(by !== 'created_at' && { sort: by }),
    ...(!isDescending && { order: 'asc' }),
  };
}
