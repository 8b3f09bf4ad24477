import type { CacheMark, Ext } from '../../ir/items.ts';
import type { RequestField } from '../../ir/settings.ts';
import { foreignMemberReport } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';

/** Why something does not go out. */
export const NO_FIELD = 'the upstream has no such field';
export const NO_CACHE_MARKS = 'the upstream caches on its own and takes no marks';
export const NOT_TAKEN = 'the endpoint does not take this parameter';
export const FOREIGN_SEAL = 'sealed by another model family: the upstream would refuse it';

/** Tells what an item, part or tool holds that this dialect cannot say: its cache mark, and members of other dialects. */
export function reportLostMembers(
  thing: { readonly cache?: CacheMark; readonly ext?: Ext },
  field: Extract<RequestField, 'items' | 'tools'>,
  report: Report,
): void {
  if (thing.cache !== undefined) report.dropped(report.place(thing, field, 'cache_control'), NO_CACHE_MARKS);
  reportForeignMembers(thing, field, report);
}

const reportForeignMembers = foreignMemberReport('gemini', NO_FIELD);
