import type { Ext } from '../../ir/items.ts';
import { foreignMembers } from '../foreign-members.ts';
import type { Report } from '../report.ts';

/** Why a member does not go out. */
export const NO_FIELD = 'the upstream has no such field';

/** Tells which members of an item, part or tool only another dialect has, except those in `sent`. */
export function reportForeignMembers(
  thing: { readonly ext?: Ext },
  field: 'items' | 'tools',
  report: Report,
  sent: readonly string[] = [],
): void {
  for (const [name] of foreignMembers(thing.ext, 'bedrock')) {
    if (!sent.includes(name)) report.dropped(report.place(thing, field, name), NO_FIELD);
  }
}
