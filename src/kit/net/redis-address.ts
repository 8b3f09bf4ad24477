import { urlOf } from './url-of.ts';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Encrypted, with a certificate that is checked. */
  readonly isTls: boolean;
}

export type RedisAddressReading =
  | { readonly ok: true; readonly address: RedisAddress }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_PORT = 6379;

/** Reads `redis://[user:password@]host:port[/database]`. No problem repeats the text: it may hold a password. */
export function parseRedisAddress(text: string): RedisAddressReading {
  const url = /^rediss?:\/\//.test(text) ? urlOf(text) : undefined;
  if (url === undefined) {
    return refused('must be an address such as redis://user:password@host:6379/0');
  }
  const { protocol, hostname, port, pathname, username, password, search, hash } = url;
  if (search !== '' || hash !== '') return refused('must have no parameters');
  if (hostname === '' || /[,\s]/.test(hostname)) return refused('must name one host');
  const number = /^\/?(\d{0,4})$/.exec(pathname)?.[1];
  if (number === undefined) return refused('must have the number of a database after the host, or nothing');
  const [user, secret] = [username, password].map(decoded);
  if (user === undefined || secret === undefined) {
    return refused('has a user or a password that is not percent-encoded');
  }
  if (user !== '' && secret === '') return refused('names a user without a password');
  return {
    ok: true,
    address: {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
      database: number === '' ? 0 : Number(number),
      user: user === '' ? undefined : user,
      password: secret === '' ? undefined : secret,
      isTls: protocol === 'rediss:',
    },
  };
}

export function shownRedisAddress(address: RedisAddress, hidden: string): string {
  const { host, port, database, user, password, isTls } = address;
  const secret = password === undefined ? '' : `${user ?? ''}:${hidden}@`;
  const place = host.includes(':') ? `[${host}]` : host;
  return `${isTls ? 'rediss' : 'redis'}://${secret}${place}:${port}/${database}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function refused(problem: string): RedisAddressReading {
  return { ok: false, problem };
}
