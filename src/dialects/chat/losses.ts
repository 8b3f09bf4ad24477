import type { Ext } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json.ts';
import { lookUp } from '../../kit/lookup.ts';
import type { Report } from '../report.ts';
import { ADDITIONAL_TOOL_MARK } from '../responses/wire.ts';

/** What chat upstreams have no field for, as the caller is told. */
export const NO_FIELD = 'the chat format has no field for it';
export const FOREIGN_SEAL = 'sealed by another model family: chat upstreams get only what one of them sealed';
export const NO_CACHE_MARK = 'the upstream takes no cache marks here';

/** Reports the members of an item, part or tool that only other dialects have, except those in `sent`. */
export function reportForeignMembers(
  thing: { readonly ext?: Ext },
  field: 'items' | 'tools',
  report: Report,
  sent: readonly string[] = [],
): void {
  for (const [dialect, members] of Object.entries(thing.ext ?? {})) {
    if (dialect === 'chat') continue;
    for (const [member, value] of Object.entries(members ?? {})) {
      if (sent.includes(member) || saysNothing(member, value)) continue;
      report.dropped(report.place(thing, field, member), NO_FIELD);
    }
  }
}

/** Reports the fields of a request that only other dialects have. Of objects that were sent in part, the lost members. */
export function reportForeignFields(ext: Ext, report: Report): void {
  for (const [dialect, fields] of Object.entries(ext)) {
    if (dialect === 'chat') continue;
    for (const [field, value] of Object.entries(fields ?? {})) {
      const lost =
        SENT_IN_PART.has(field) && isJsonObject(value)
          ? Object.keys(value).map((member) => `${field}.${member}`)
          : [field];
      for (const path of lost) report.dropped(path, NO_FIELD);
    }
  }
}

/** Objects of which the representation models some members. */
const SENT_IN_PART: ReadonlySet<string> = new Set(['output_config', 'metadata', 'stream_options']);

/** Values of members that mean no more than their absence does. */
const MEANINGLESS: Readonly<Record<string, (value: JsonObject) => boolean>> = {
  caller: ({ type }) => type === 'direct',
  citations: ({ enabled }) => enabled !== true,
};

function saysNothing(member: string, value: Json | undefined): boolean {
  if (member === ADDITIONAL_TOOL_MARK || value === undefined || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  const test = lookUp(MEANINGLESS, member);
  return test !== undefined && isJsonObject(value) && test(value);
}
