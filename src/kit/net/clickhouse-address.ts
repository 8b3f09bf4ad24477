import { urlOf } from './url-of.ts';

export interface ClickhouseAddress {
  /** Scheme, host and port of its HTTP interface. */
  readonly origin: string;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export type ClickhouseAddressReading =
  | { readonly ok: true; readonly address: ClickhouseAddress }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_DATABASE = 'signalbox';

/** Ports of the HTTP interface, where the address has none. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 8123, 'https:': 8443 };

/** Names that need no quotes in SQL. */
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Reads `http[s]://[user:password@]host:port[/database]`. No problem repeats the text: it may hold a password. */
export function parseClickhouseAddress(text: string): ClickhouseAddressReading {
  const url = /^https?:\/\/[^/]/.test(text) ? urlOf(text) : undefined;
  if (url === undefined) {
    return refused('must be an address such as http://user:password@host:8123/signalbox');
  }
  const { protocol, hostname, pathname, username, password, search, hash } = url;
  if (search !== '' || hash !== '') return refused('must have nothing behind the database');
  const [database, user, secret] = [pathname.slice(1), username, password].map(decoded);
  if (user === undefined || secret === undefined) {
    return refused('has a user or password that is not percent-encoded');
  }
  if (database === undefined || (database !== '' && !PLAIN_NAME.test(database))) {
    return refused('must name a database of letters, digits and underscores after the host, or none');
  }
  return {
    ok: true,
    address: {
      origin: `${protocol}//${hostname}:${portIn(text) ?? DEFAULT_PORTS[protocol]}`,
      database: database === '' ? DEFAULT_DATABASE : database,
      user: user === '' ? undefined : user,
      password: secret === '' ? undefined : secret,
    },
  };
}

export function shownClickhouseAddress(address: ClickhouseAddress, hidden: string): string {
  const { origin, database, user, password } = address;
  const credential = user === undefined ? '' : `${user}${password === undefined ? '' : `:${hidden}`}@`;
  return `${origin.replace('://', `://${credential}`)}/${database}`;
}

/** The port as it was written: `URL` hides those that are usual for the scheme. */
function portIn(text: string): string | undefined {
  return /^https?:\/\/[^/]*:(\d+)(?:\/|$)/.exec(text)?.[1];
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function refused(problem: string): ClickhouseAddressReading {
  return { ok: false, problem };
}
