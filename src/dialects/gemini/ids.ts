/**
 * Some upstreams of this dialect give their calls ids and want to see them again, on the call and on its result. They know
 * no others. So callers get those ids with a mark, and only what bears it goes back, without the mark. Ids that not every
 * format takes as they are bear another mark, and are encoded behind it.
 */

const MARK = 'gemini_';
const ENCODED_MARK = 'gemini64_';

/** Ids that every format takes as they are, with the mark in front. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,57}$/;

/** Longer ids are no ids. */
const MOST_BYTES = 256;

/** The id of a call for callers; undefined where the upstream gave none that callers can take. */
export function callIdOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (PLAIN_ID.test(given)) return `${MARK}${given}`;
  const bytes = Buffer.from(given);
  return bytes.length > MOST_BYTES ? undefined : `${ENCODED_MARK}${bytes.toString('base64url')}`;
}

/** The member that names a call to the upstream which gave it an id. */
export function ownId(callId: string): { readonly id?: string } {
  const id = givenId(callId);
  return id === undefined || id === '' ? {} : { id };
}

/** A caller may begin an id with the second mark as well: it is ours only if we would write it so. */
function givenId(callId: string): string | undefined {
  if (callId.startsWith(MARK)) return callId.slice(MARK.length);
  if (!callId.startsWith(ENCODED_MARK)) return undefined;
  const id = Buffer.from(callId.slice(ENCODED_MARK.length), 'base64url').toString();
  return callIdOf(id) === callId ? id : undefined;
}
