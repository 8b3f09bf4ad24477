/**
 * Some upstreams of this dialect give their calls ids and want to see them again, on the call and on its result. They know
 * no others. So callers get those ids with a mark, and only what bears it goes back, without the mark.
 */

const MARK = 'gemini_';

/** Ids that every format takes as they are, with the mark in front. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,57}$/;

/** The id of a call for callers; undefined where the upstream gave none that callers can take. */
export function callIdOf(given: string | undefined): string | undefined {
  return given !== undefined && PLAIN_ID.test(given) ? `${MARK}${given}` : undefined;
}

/** The member that names a call to the upstream which gave it an id. */
export function ownId(callId: string): { readonly id?: string } {
  return callId.startsWith(MARK) ? { id: callId.slice(MARK.length) } : {};
}
