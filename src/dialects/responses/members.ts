import type { DialectName, Ext, ItemStatus } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { membersBeyond, stringAt } from '../../kit/json/members.ts';

const ITEM_STATUSES: ReadonlySet<string> = new Set<ItemStatus>(['in_progress', 'completed', 'incomplete']);

/** The status of an item, where it has one that the representation knows. */
export function statusAt(object: JsonObject): ItemStatus | undefined {
  const status = stringAt(object, 'status');
  return status !== undefined && ITEM_STATUSES.has(status) ? (status as ItemStatus) : undefined;
}

/** What an object holds beyond the fields that are modelled, nulls left out; undefined when there is nothing. */
export function extOf(
  object: JsonObject,
  modelled: ReadonlySet<string>,
  dialect: DialectName = 'responses',
): Ext | undefined {
  const rest = membersBeyond(object, modelled);
  return rest === undefined ? undefined : { [dialect]: rest };
}
