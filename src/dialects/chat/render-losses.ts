import type { Ext } from '../../ir/items.ts';
import { foreignFieldPaths, foreignMemberReport } from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';

/** What chat upstreams have no field for, as the caller is told. */
export const NO_FIELD = 'the chat format has no field for it';
export const FOREIGN_SEAL =
  'sealed by an upstream of another dialect: chat upstreams get only what one of them gave';
export const NO_CACHE_MARK = 'the upstream takes no cache marks here';

/** Reports the members of an item, part or tool that only other dialects have. */
export const reportForeignMembers = foreignMemberReport('chat', NO_FIELD);

/** Reports the fields of a request that only other dialects have. */
export function reportForeignFields(ext: Ext, report: Report): void {
  for (const path of foreignFieldPaths(ext, 'chat')) report.dropped(path, NO_FIELD);
}
