import type { GenerationRequest } from '../../ir/request.ts';
import { NamePool } from '../shared/tools/name-pool.ts';
import { type FlatNames, flatNames } from '../shared/tools/tool-names.ts';

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
