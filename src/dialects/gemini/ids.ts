import type { GenerationRequest } from '../../ir/request.ts';
import { NamePool } from '../shared/tools/name-pool.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';

/**
 * Some upstreams of this dialect give their calls ids and require them back, on the call and on its result. They
 * accept no others. So callers get these ids with a mark. Only ids with the mark are sent back, without it. Ids that
 * not every format accepts unchanged are encoded, and have another mark.
 */

const MARK = 'gemini_';
const ENCODED_MARK = 'gemini64_';

/** Ids that every format accepts unchanged after the mark. */
const PLAIN_ID = /^[a-zA-Z0-9_-]{1,57}$/;

/** Longer ids are not accepted. */
const MAX_ID_BYTES = 256;

/** The id of a call for callers; undefined if the upstream sent none that callers can take. */
export function callIdOf(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (PLAIN_ID.test(given)) return `${MARK}${given}`;
  const bytes = Buffer.from(given);
  return bytes.length > MAX_ID_BYTES ? undefined : `${ENCODED_MARK}${bytes.toString('base64url')}`;
}

/** The id member of a call for the upstream that gave the id. */
export function ownId(callId: string): { readonly id?: string } {
  const id = givenId(callId);
  return id === undefined || id === '' ? {} : { id };
}

/**
 * The upstream's id behind a caller's id. An id of the caller's own may begin with the second mark too: it is decoded
 * only if encoding the result gives the same id again.
 */
function givenId(callId: string): string | undefined {
  if (callId.startsWith(MARK)) return callId.slice(MARK.length);
  if (!callId.startsWith(ENCODED_MARK)) return undefined;
  const id = Buffer.from(callId.slice(ENCODED_MARK.length), 'base64url').toString();
  return callIdOf(id) === callId ? id : undefined;
}

// --- Names of functions ---------------------------------------------------------------------------------------------

/** Upstreams of this dialect refuse names that begin with a digit or a dash. */
const BEGINS_WELL = /^[a-zA-Z_]/;

const MAX_NAME_CHARACTERS = 64;

export function functionNames(request: Pick<GenerationRequest, 'tools'>): FlatNames {
  const flat = flatNames(request);
  const declared = request.tools.flatMap((tool) =>
    tool.type === 'hosted'
      ? []
      : [flat.nameOf({ kind: tool.type, name: tool.name, ...namespaceOf(tool.namespace?.name) })],
  );
  const pool = new NamePool(declared, MAX_NAME_CHARACTERS);
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
  return BEGINS_WELL.test(name) ? name : `_${name}`.slice(0, MAX_NAME_CHARACTERS);
}
