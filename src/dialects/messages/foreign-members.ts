import type { Ext } from '../../ir/items.ts';
import type { Json } from '../../kit/json.ts';
import type { Report } from '../report.ts';
import { ADDITIONAL_TOOL_MARK } from '../responses/wire.ts';

/** Why a member does not go out. */
export const NO_FIELD = 'the upstream has no such field';

/** Tells which members of an item, part or tool only another dialect has. */
export function reportForeignMembers(
  thing: { readonly ext?: Ext },
  field: 'items' | 'tools',
  report: Report,
): void {
  for (const [dialect, members] of Object.entries(thing.ext ?? {})) {
    if (dialect === 'messages') continue;
    for (const [name, value] of Object.entries(members ?? {})) {
      if (!saysNothing(name, value)) report.dropped(report.place(thing, field, name), NO_FIELD);
    }
  }
}

/** Clients replay empty lists and switches that are off with every item. The mark is the gateway's own. */
function saysNothing(name: string, value: Json | undefined): boolean {
  if (name === ADDITIONAL_TOOL_MARK || value === undefined || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}
