import { ApiError } from '../../api/request.ts';

/** What the gateway refused of a body: the path of a member, and what is wrong with it. */
export interface RefusedMember {
  readonly path: string;
  readonly message: string;
}

/** The members that a refusal names; none if it is about something else. */
export function refusedMembersOf(error: unknown): readonly RefusedMember[] {
  const issues = error instanceof ApiError ? error.metadata.issues : undefined;
  return Array.isArray(issues) ? (issues as readonly RefusedMember[]) : [];
}

/** The code that programs read in front of some messages: `invalid_regex_pattern: `. */
const CODE = /^[a-z]+(?:_[a-z]+)+: /;

/** "must be less than 5" as a sentence about the field. */
export function sentence(message: string): string {
  const words = message.replace(CODE, '');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.?!]$/.test(words) ? '' : '.'}`;
}
