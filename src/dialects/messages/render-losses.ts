import type { DialectName } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { foreignMemberReport } from '../shared/report/foreign-members.ts';
import type { LostField } from '../shared/report/lost-fields.ts';
import { reportLostSettings, UNDOCUMENTED } from '../shared/report/lost-fields.ts';
import type { Report } from '../shared/report/report.ts';
import { GATEWAY_FIELDS } from './wire.ts';

/** Why a member does not go out. */
export const NO_FIELD = 'the upstream has no such field';

/** Tells which members of an item, part or tool only other dialects have. */
export const reportForeignMembers = foreignMemberReport('messages', NO_FIELD);

/** Why a field of the gateway's does not go out: this route does not know it. */
export const NOT_ON_THIS_ROUTE = 'is not known on this route';

const LOST_FIELDS: readonly LostField[] = [
  'verbosity',
  'imageConfig',
  'promptCacheKey',
  'promptCacheOptions',
  'metadata',
];

/** Tells what the upstream has no field for. */
export function reportLost(request: GenerationRequest, report: Report): void {
  reportLostSettings(request, LOST_FIELDS, report, NO_FIELD);
  for (const [dialect, fields] of Object.entries(request.ext) as [DialectName, JsonObject][]) {
    if (dialect !== 'messages') for (const field of membersLost(fields)) report.dropped(field, NO_FIELD);
  }
  for (const field of request.unknownFields) {
    const detail = GATEWAY_FIELDS.has(field) ? NOT_ON_THIS_ROUTE : UNDOCUMENTED;
    report.dropped(field, detail);
  }
}

/** Objects that the gateway honours in part: what is left of them is told member by member. */
const HONOURED_IN_PART: ReadonlySet<string> = new Set(['stream_options']);

function membersLost(fields: JsonObject): string[] {
  return Object.entries(fields).flatMap(([field, value]) =>
    HONOURED_IN_PART.has(field) && isJsonObject(value)
      ? Object.keys(value).map((member) => `${field}.${member}`)
      : [field],
  );
}
