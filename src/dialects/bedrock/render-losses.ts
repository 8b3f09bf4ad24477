import { foreignMemberReport } from '../shared/report/foreign-members.ts';

/** Why a member does not go out. */
export const NO_FIELD = 'the upstream has no such field';

/** Tells which members of an item, part or tool only other dialects have. */
export const reportForeignMembers = foreignMemberReport('bedrock', NO_FIELD);
