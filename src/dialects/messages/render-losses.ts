import type { GenerationRequest } from '../../ir/request.ts';
import type { RequestField } from '../../ir/settings.ts';
import type { RenderTarget } from '../dialect.ts';
import { CLAUDE_FATES } from '../shared/report/claude-fates.ts';
import { isTaken, NO_FIELD, reportDroppedFields } from '../shared/report/field-fates.ts';
import {
  foreignMemberReport,
  reportForeignFields,
  reportToolCallLimit,
  reportUnknownFields,
  UNDOCUMENTED,
} from '../shared/report/foreign-members.ts';
import type { Report } from '../shared/report/report.ts';
import { GATEWAY_FIELDS } from './wire.ts';

export const NOT_ON_THIS_ROUTE = 'is not known on this route';

// --- Fields of the request ------------------------------------------------------------------------------------------

export function takes(field: RequestField, target: RenderTarget): boolean {
  return isTaken(CLAUDE_FATES[field], target);
}

export function reportLosses(request: GenerationRequest, report: Report): void {
  reportDroppedFields(request, CLAUDE_FATES, report);
  reportToolCallLimit(request, NO_FIELD, report);
  reportForeignFields(request, 'messages', NO_FIELD, report);
  const isOwn = request.format === 'messages';
  reportUnknownFields(
    request,
    (field) => (isOwn && !isForGateway(field) ? undefined : unknownDetail(field)),
    report,
  );
}

export function isForGateway(field: string): boolean {
  return GATEWAY_FIELDS.has(field) || field === CALL_LIMIT;
}

/** A field of the responses format that the gateway reads in this one, too. */
const CALL_LIMIT = 'max_tool_calls';

function unknownDetail(field: string): string {
  if (field === CALL_LIMIT) return 'the gateway counts the calls of its tools itself';
  return isForGateway(field) ? NOT_ON_THIS_ROUTE : UNDOCUMENTED;
}

// --- Members of items, parts and tools ------------------------------------------------------------------------------

export const reportForeignMembers = foreignMemberReport('messages', NO_FIELD);
