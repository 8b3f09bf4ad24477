/** A host of the list, split into name and port. */
interface HiddenHost {
  /** Without the port; begins with a dot for a wildcard. */
  readonly name: string;
  /** The port with its colon; empty = any port. */
  readonly port: string;
}

const PORT = /:\d+$/;

/** An address of IPv6 as people write it; the hosts of apps have it in brackets. */
const BARE_IPV6 = /^[0-9a-f]*:[0-9a-f]*:/;

/** Ports that are left out of an app's host. */
const DEFAULT_PORTS: ReadonlySet<string> = new Set([':80', ':443']);

/**
 * Whether a list of hosts hides an app. A host without a port hides the apps on all of its ports, one with a port
 * that one alone; `*.` stands for any name before the rest.
 */
export function hiddenBy(hosts: readonly string[]): (app: string) => boolean {
  const hidden = hosts.map(hiddenHostOf);
  const names = new Set<string>();
  const apps = new Set<string>();
  for (const { name, port } of hidden) {
    if (port === '') names.add(name);
    else apps.add(name + port);
    if (DEFAULT_PORTS.has(port)) apps.add(name);
  }
  const wildcards = hidden.filter(({ name }) => name.startsWith('.'));
  return (app) => {
    const name = nameOf(app);
    if (names.has(name) || apps.has(app)) return true;
    return wildcards.some(
      (wildcard) => name.endsWith(wildcard.name) && isOnPort(app.slice(name.length), wildcard),
    );
  };
}

function hiddenHostOf(written: string): HiddenHost {
  const lower = written.toLowerCase();
  const host = BARE_IPV6.test(lower) ? `[${lower}]` : lower;
  const name = nameOf(host);
  return { name: name.startsWith('*.') ? name.slice(1) : name, port: host.slice(name.length) };
}

function nameOf(host: string): string {
  return host.includes(':') ? host.replace(PORT, '') : host;
}

function isOnPort(port: string, hidden: HiddenHost): boolean {
  return hidden.port === '' || hidden.port === port || (port === '' && DEFAULT_PORTS.has(hidden.port));
}
