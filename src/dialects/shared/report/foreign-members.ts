import type { DialectName, Ext } from '../../../ir/items.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Report } from './report.ts';

/** Marks a tool that came inside an `additional_tools` item: the gateway's own note, never sent and never lost. */
export const ADDITIONAL_TOOL_MARK = 'additional_tools';

/** What an item, part, tool or request holds that only other dialects than `own` have, as far as it says anything. */
export function foreignMembers(ext: Ext | undefined, own: DialectName): [name: string, value: Json][] {
  if (ext === undefined) return [];
  return Object.entries(ext).flatMap(([dialect, members]) =>
    dialect === own
      ? []
      : Object.entries(members ?? {}).flatMap(([name, value]): [string, Json][] =>
          value === undefined || saysNothing(name, value) ? [] : [[name, value]],
        ),
  );
}

/** Tells which members of an item, part or tool only other dialects have, except those in `sent`. */
export type ReportForeignMembers = (
  thing: { readonly ext?: Ext },
  field: 'items' | 'tools',
  report: Report,
  sent?: readonly string[],
) => void;

/** Makes that of a dialect, with its words for why they do not go out. */
export function foreignMemberReport(own: DialectName, detail: string): ReportForeignMembers {
  return (thing, field, report, sent = []) => {
    for (const [name] of foreignMembers(thing.ext, own)) {
      if (!sent.includes(name)) report.dropped(report.place(thing, field, name), detail);
    }
  };
}

/** Fields of which the representation models some members: only the others are foreign. */
const SENT_IN_PART: ReadonlySet<string> = new Set(['output_config', 'metadata', 'stream_options']);

/** The fields of a request that only other dialects have, by path; of objects that were sent in part, the lost members. */
export function foreignFieldPaths(ext: Ext, own: DialectName): string[] {
  return foreignMembers(ext, own).flatMap(([field, value]) =>
    SENT_IN_PART.has(field) && isJsonObject(value)
      ? Object.keys(value).map((member) => `${field}.${member}`)
      : [field],
  );
}

/** Members with these values mean the same as their absence. Clients replay them with every item. */
const DEFAULTS: Readonly<Record<string, (value: JsonObject) => boolean>> = {
  caller: ({ type }) => type === 'direct',
  citations: ({ enabled }) => enabled !== true,
};

function saysNothing(name: string, value: Json): boolean {
  if (name === ADDITIONAL_TOOL_MARK || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && lookUp(DEFAULTS, name)?.(value) === true;
}
