import type { CacheMark, DialectName, Ext } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kit/json/json.ts';
import type { Report } from './report.ts';

/** Marks a tool from an `additional_tools` item: the gateway's own note, never sent and never lost. */
export const ADDITIONAL_TOOL_MARK = 'additional_tools';

/** Members of an item, part, tool or request that only dialects other than `own` have, without harmless values. */
function foreignMembers(ext: Ext | undefined, own: DialectName): [name: string, value: Json][] {
  if (ext === undefined) return [];
  return Object.entries(ext).flatMap(([dialect, members]) =>
    dialect === own
      ? []
      : Object.entries(members ?? {}).flatMap(([name, value]): [string, Json][] =>
          value === undefined || isHarmless(name, value) ? [] : [[name, value]],
        ),
  );
}

/** Reports the members of an item, part or tool that only other dialects have, except those in `sent`. */
export type ReportForeignMembers = (
  thing: { readonly cache?: CacheMark; readonly ext?: Ext },
  field: 'items' | 'tools',
  report: Report,
  sent?: readonly string[],
) => void;

/**
 * Makes the function of a dialect. `detail`: why the members are not sent. `noCacheMarks`: for dialects without cache
 * marks, why these are not sent; the function then reports them too.
 */
export function foreignMemberReport(
  own: DialectName,
  detail: string,
  noCacheMarks?: string,
): ReportForeignMembers {
  return (thing, field, report, sent = []) => {
    if (noCacheMarks !== undefined && thing.cache !== undefined) {
      report.dropped(report.place(thing, field, 'cache_control'), noCacheMarks);
    }
    for (const [name] of foreignMembers(thing.ext, own)) {
      if (!sent.includes(name)) report.dropped(report.place(thing, field, name), detail);
    }
  };
}

/** Fields of which the representation models some members: only the others are foreign. */
const SENT_IN_PART: ReadonlySet<string> = new Set(['output_config', 'metadata', 'stream_options']);

/** Reports the request fields that only other dialects have; of objects that were sent in part, the lost members. */
export function reportForeignFields(
  { ext }: GenerationRequest,
  own: DialectName,
  detail: string,
  report: Report,
): void {
  for (const [field, value] of foreignMembers(ext, own)) {
    const isPart = SENT_IN_PART.has(field) && isJsonObject(value);
    const paths = isPart ? Object.keys(value).map((member) => `${field}.${member}`) : [field];
    for (const path of paths) report.dropped(path, detail);
  }
}

/** Reports the request fields that no format documents. `detailOf`: why one is not sent; undefined = it is sent. */
export function reportUnknownFields(
  { unknownFields }: GenerationRequest,
  detailOf: (field: string) => string | undefined,
  report: Report,
): void {
  for (const field of unknownFields) {
    const detail = detailOf(field);
    if (detail !== undefined) report.dropped(field, detail);
  }
}

export const UNDOCUMENTED = 'undocumented: passed on only to upstreams of the same format';

export const UNKNOWN_VALUE = 'an unknown value: passed on only to upstreams of the same format';

/**
 * Reports a limit on the calls of tools that the gateway runs. Formats that do not document the limit list it among
 * the unknown fields, which are reported separately.
 */
export function reportToolCallLimit(
  { wishes, unknownFields }: GenerationRequest,
  detail: string,
  report: Report,
): void {
  if (wishes.maxToolCalls === undefined || unknownFields.includes('max_tool_calls')) return;
  report.dropped('max_tool_calls', detail);
}

/** Members with these values mean the same as their absence. Clients replay them with every item. */
const DEFAULTS: Readonly<Record<string, (value: JsonObject) => boolean>> = {
  caller: ({ type }) => type === 'direct',
  citations: ({ enabled }) => enabled !== true,
};

function isHarmless(name: string, value: Json): boolean {
  if (name === ADDITIONAL_TOOL_MARK || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && lookUp(DEFAULTS, name)?.(value) === true;
}
