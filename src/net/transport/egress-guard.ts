import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type EgressRules, egressProblem, hostOf, mayConnect } from '../../kit/net/egress.ts';
import { portOf, type SocketGuard } from '../http1/client/open-socket.ts';
import { TransportProblem } from '../http1/client/transport-problem.ts';

/** Error code of a look-up whose addresses must all not be called. */
export const EGRESS_REFUSED_CODE = 'ERR_EGRESS_REFUSED';

const GUARD_MESSAGE = 'the address is unknown or not one that may be called';

/** Throws if a URL must not be called, as far as that can be decided without looking up its name. */
export function requireAllowedUrl(url: URL, rules: EgressRules): void {
  if (egressProblem(url, rules) !== undefined) throw new TransportProblem('connect', GUARD_MESSAGE);
}

/** Lets sockets connect to the origin of `url` only at addresses that may be called. */
export function socketGuard(url: URL, rules: EgressRules, lookUpAll?: LookUpAll): SocketGuard {
  const port = portOf(url);
  const host = hostOf(url);
  return {
    lookup: guardedLookup(port, rules, lookUpAll),
    checkPeer(address) {
      if (!mayConnect({ host, port, address }, rules)) throw refusal();
    },
  };
}

export type LookUpAll = (
  host: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * A look-up, for connections to one port, that returns only addresses that may be called. The socket connects to what
 * it returns, so a name that resolves to another address the next time (DNS rebinding) does not pass.
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
  return Object.assign(new TransportProblem('connect', GUARD_MESSAGE), { code: EGRESS_REFUSED_CODE });
}
