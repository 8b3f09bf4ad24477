import { urlOf } from './url-of.ts';

/** How a connection is kept from being read on its way, weakest first, in the words of PostgreSQL. */
export const TLS_MODES = ['disable', 'prefer', 'require', 'verify-full'] as const;

export type TlsMode = (typeof TLS_MODES)[number];

export interface DatabaseAddress {
  /** A name, an address, or the directory of a socket: that begins with a slash. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly tls: TlsMode;
}

export type AddressReading =
  | { readonly ok: true; readonly address: DatabaseAddress }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_PORT = 5432;
const PARAMETERS = ['host', 'sslmode'];

/** Reads `postgres://user:password@host:port/database`. No problem repeats the text: it holds a password. */
export function parseDatabaseAddress(text: string): AddressReading {
  const url = /^postgres(?:ql)?:\/\//.test(text) ? urlOf(text) : undefined;
  if (url === undefined) {
    return refused('must be an address such as postgres://user:password@host:5432/database');
  }
  const { hostname, port, pathname, username, password, searchParams } = url;
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return refused(`has a parameter other than ${PARAMETERS.join(' and ')}`);
  const [host, database, user, secret] = [hostname, pathname.slice(1), username, password].map(decoded);
  const directory = searchParams.get('host');
  if (directory !== null && !directory.startsWith('/')) {
    return refused(
      'host in its parameters must be the directory of a socket; write other hosts before the port',
    );
  }
  const place = directory ?? host;
  if (!place || /[,\s]/.test(place)) return refused('must name one host');
  if (!user) return refused('must name a user');
  if (!database || database.includes('/')) return refused('must name one database after the host');
  if (secret === undefined) return refused('has a password that is not percent-encoded');
  const tls = tlsOf(searchParams.get('sslmode'), place);
  if (tls === undefined) return refused(`sslmode must be one of ${TLS_MODES.join(', ')}`);
  return {
    ok: true,
    address: {
      host: place.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
      database,
      user,
      password: secret === '' ? undefined : secret,
      tls,
    },
  };
}

export function shownDatabaseAddress(address: DatabaseAddress, hidden: string): string {
  const { host, port, database, user, password, tls } = address;
  const secret = password === undefined ? '' : `:${hidden}`;
  const place = host.startsWith('/') || host.includes(':') ? `[${host}]` : host;
  return `postgres://${user}${secret}@${place}:${port}/${database}?sslmode=${tls}`;
}

/** A socket of the same machine cannot be read by others, and servers offer no TLS there. */
function tlsOf(mode: string | null, host: string): TlsMode | undefined {
  if (mode === null) return host.startsWith('/') ? 'disable' : 'prefer';
  return TLS_MODES.find((known) => known === mode);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function refused(problem: string): AddressReading {
  return { ok: false, problem };
}
