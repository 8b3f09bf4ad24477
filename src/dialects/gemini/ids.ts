import type { GenerationRequest } from '../../ir/request.ts';
import { NamePool } from '../shared/tools/name-pool.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';

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

// --- Names of functions ---------------------------------------------------------------------------------------------

/** Upstreams of this dialect refuse names that begin with a digit or a dash. */
const BEGINS_WELL = /^[a-zA-Z_]/;

const MAX_NAME_LENGTH = 64;

/** Names of a request's tools as this dialect takes them, there and back. */
export function functionNames(request: Pick<GenerationRequest, 'tools'>): FlatNames {
  const flat = flatNames(request);
  const declared = request.tools.flatMap((tool) =>
    tool.type === 'hosted'
      ? []
      : [flat.nameOf({ kind: tool.type, name: tool.name, ...namespaceOf(tool.namespace?.name) })],
  );
  const pool = new NamePool(declared, MAX_NAME_LENGTH);
  const sent = new Map<string, string>();
  const back = new Map<string, string>();
  for (const name of declared) {
    if (BEGINS_WELL.test(name) || sent.has(name)) continue;
    const own = pool.take(wellBegun(name));
    sent.set(name, own);
    back.set(own, name);
  }
  return {
    nameOf: (tool) => {
      const name = flat.nameOf(tool);
      return sent.get(name) ?? wellBegun(name);
    },
    identify: (name) => flat.identify(back.get(name) ?? name),
  };
}

function namespaceOf(namespace: string | undefined): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function wellBegun(name: string): string {
  return BEGINS_WELL.test(name) ? name : `_${name}`.slice(0, MAX_NAME_LENGTH);
}
