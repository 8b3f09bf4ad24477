import { domainToASCII } from 'node:url';
import { glob } from '../kit/text/glob.ts';

/**
 * Domains as requests name them: `example.com` (with everything below it), `*.example.com` (only what is below it),
 * `example.com/blog` (with every path below that), and `*` for any run of characters in either part.
 */
export class DomainList {
  readonly #entries: readonly Entry[];

  constructor(patterns: readonly string[]) {
    this.#entries = patterns.map(parseEntry);
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  has(url: URL): boolean {
    const host = url.hostname.toLowerCase().replace(/\.$/, '');
    return this.#entries.some(({ fitsHost, fitsPath }) => fitsHost(host) && fitsPath(url.pathname));
  }

  /** Hosts that together cover all entries, for engines that filter by host alone; undefined if there are none. */
  coveringHosts(): readonly string[] | undefined {
    const hosts = this.#entries.map(({ host }) => host.replace(/^\*\./, ''));
    return hosts.some((host) => host.includes('*')) ? undefined : [...new Set(hosts)];
  }

  /** Hosts that are meant as a whole: an engine that leaves them out leaves out nothing else. */
  wholeHosts(): readonly string[] {
    const whole = this.#entries.filter(({ host, path }) => path === '' && !host.includes('*'));
    return [...new Set(whole.map(({ host }) => host))];
  }
}

interface Entry {
  readonly host: string;
  readonly path: string;
  readonly fitsHost: (host: string) => boolean;
  readonly fitsPath: (path: string) => boolean;
}

function parseEntry(pattern: string): Entry {
  const bare = pattern.trim().replace(/^https?:\/\//i, '');
  const slash = bare.indexOf('/');
  const written = (slash === -1 ? bare : bare.slice(0, slash)).toLowerCase().replace(/\.$/, '');
  // Addresses have their hosts in ASCII: `münchen.de` is `xn--mnchen-3ya.de`.
  const host = domainToASCII(written) || written;
  const path = slash === -1 ? '' : bare.slice(slash).replace(/\/+$/, '');
  const fitsBelow = glob(`*.${host}`);
  const fitsExactly = glob(host);
  const isPath = glob(path);
  const isBelowPath = glob(`${path}/*`);
  return {
    host,
    path,
    fitsHost: (given) => fitsExactly(given) || fitsBelow(given),
    fitsPath: (given) => path === '' || isPath(given) || isBelowPath(given),
  };
}

/** Why a page is not to be shown or visited, by the lists of a request; undefined: it may be. */
export function domainProblem(url: URL, allowed: DomainList, blocked: DomainList): string | undefined {
  if (!allowed.isEmpty && !allowed.has(url)) return 'the address is in none of the allowed domains';
  return blocked.has(url) ? 'the address is in a blocked domain' : undefined;
}
