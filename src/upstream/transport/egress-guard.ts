import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { TransportProblem } from '../../http1/client/transport-problem.ts';
import { type EgressRules, egressProblem, mayConnect } from '../../kit/net/egress.ts';

/** The code of an error that means: the name leads where callers may not go. */
export const REFUSED_BY_GUARD = 'ERR_EGRESS_REFUSED';

/** Message to the caller when the guard stopped a call. */
const GUARD_MESSAGE = 'the address is unknown or not one that may be called';

/** Refuses an address that must not be called, as far as it can be told without looking its name up. */
export function requirePassage(url: URL, rules: EgressRules): void {
  if (egressProblem(url, rules) !== undefined) throw new TransportProblem('connect', GUARD_MESSAGE);
}

/** Finds all addresses of a name. */
export type LookUpAll = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A look-up for connections to one port that gives out only addresses that may be called. What it gives is what is
 * connected to, so a name that leads elsewhere the next time is of no use.
 */
export function guardedLookup(
  port: number,
  rules: EgressRules,
  lookUpAll: LookUpAll = systemLookup,
): LookupFunction {
  return (hostname, options, callback) => {
    const host = hostname.toLowerCase().replace(/\.+$/, '');
    lookUpAll(hostname, { ...options, all: true }, (error, found) => {
      // An unknown name gives the same error as a private one: else callers could query our resolver.
      if (error !== null) {
        callback(refusal(), '');
        return;
      }
      const allowed = found.filter(({ address }) => mayConnect({ host, port, address }, rules));
      const [first] = allowed;
      if (first === undefined) callback(refusal(), '');
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function refusal(): NodeJS.ErrnoException {
  return Object.assign(new TransportProblem('connect', GUARD_MESSAGE), { code: REFUSED_BY_GUARD });
}
