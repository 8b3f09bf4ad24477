import type { GenerationRequest } from '../../ir/request.ts';
import { foreignFieldPaths, foreignMemberReport } from '../shared/report/foreign-members.ts';
import type { LostField } from '../shared/report/lost-fields.ts';
import { reportLostSettings, UNDOCUMENTED } from '../shared/report/lost-fields.ts';
import type { Report } from '../shared/report/report.ts';

/** Why a member does not go out. */
export const NO_FIELD = 'the upstream has no such field';

/** Tells which members of an item, part or tool only other dialects have. */
export const reportForeignMembers = foreignMemberReport('bedrock', NO_FIELD);

const LOST_FIELDS: readonly LostField[] = [
  'verbosity',
  'imageConfig',
  'promptCacheKey',
  'promptCacheOptions',
];

/** Tells what the upstream has no field for. */
export function reportLost(request: GenerationRequest, report: Report): void {
  reportLostSettings(request, LOST_FIELDS, report, NO_FIELD);
  for (const path of foreignFieldPaths(request.ext, 'bedrock')) report.dropped(path, NO_FIELD);
  for (const field of request.unknownFields) report.dropped(field, UNDOCUMENTED);
}
