import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import type { RenderTarget } from '../dialect.ts';
import { CLAUDE_FATES } from '../shared/report/claude-fates.ts';
import {
  type FieldFates,
  isTaken,
  NO_FIELD,
  rendered,
  reportDroppedFields,
} from '../shared/report/field-fates.ts';
import {
  foreignMemberReport,
  reportForeignFields,
  reportToolCallLimit,
  reportUnknownFields,
  UNDOCUMENTED,
} from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';

// --- Fields of the request ------------------------------------------------------------------------------------------

const FATES: FieldFates = { ...CLAUDE_FATES, metadata: rendered() };

export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(FATES[field], target);
}

export function reportLosses(request: GenerationRequest, report: Report): void {
  reportDroppedFields(request, FATES, report);
  reportToolCallLimit(request, NO_FIELD, report);
  reportForeignFields(request, 'bedrock', NO_FIELD, report);
  reportUnknownFields(request, () => UNDOCUMENTED, report);
}

// --- Members of items, parts and tools ------------------------------------------------------------------------------

export const reportForeignMembers = foreignMemberReport('bedrock', NO_FIELD);
