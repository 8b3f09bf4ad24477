import type { ConversationObject } from '../../api/contract.ts';
import type { FilterField } from '../../parts/filters/filter-fields.ts';
import type { NamedOrder } from '../../parts/table/order-choice.tsx';
import { type Sort, sortOf, sortText } from '../../parts/table/sort.ts';
import { logFields } from '../log/log-fields.ts';

/** What conversations can be filtered by: filters of the log that hold for each of their generations. */
const FILTERS: ReadonlySet<string> = new Set(
  'workspace key model provider app session_id external_user'.split(' '),
);

export function conversationFields(isManagement: boolean): readonly FilterField[] {
  return logFields(isManagement).filter(({ name }) => FILTERS.has(name));
}

/** Orders that the reader can choose, by their names in the interface. */
export const CONVERSATION_ORDERS: readonly NamedOrder[] = [
  ['last_at', 'latest first', 'oldest first'],
  ['cost', 'dearest first', 'cheapest first'],
  ['duration_ms', 'longest first', 'shortest first'],
  ['generations', 'most turns first', 'fewest turns first'],
  ['tokens', 'most tokens first', 'fewest tokens first'],
  ['failed', 'most errors first', 'fewest errors first'],
];

const LATEST_FIRST: Sort = { by: 'last_at', isDescending: true };

/** The order of an address; the latest first if it names none, or none that there is. */
export function conversationOrder(query: URLSearchParams): Sort {
  const order = sortOf(query.get('sort'));
  return CONVERSATION_ORDERS.some(([by]) => by === order?.by) ? (order as Sort) : LATEST_FIRST;
}

/** The order as a parameter of the address; null = the usual one. */
export function conversationOrderText(order: Sort): string | null {
  const text = sortText(order);
  return text === sortText(LATEST_FIRST) ? null : text;
}

/** The log of a conversation, in the order of time, with the range and the filters by which it was found. */
export function logOfConversation(
  { session_id: session, workspace_id: workspace }: Pick<ConversationObject, 'session_id' | 'workspace_id'>,
  query: URLSearchParams,
  isManagement: boolean,
): string {
  const kept = [...query].filter(([name]) => name === 'from' || name === 'to' || FILTERS.has(name));
  const next = new URLSearchParams(kept);
  next.set('session_id', session);
  if (isManagement) next.set('workspace', workspace);
  next.set('sort', 'created_at');
  return `/log?${next}`;
}
