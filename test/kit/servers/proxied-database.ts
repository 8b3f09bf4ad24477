import { openTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';

/** A database behind a proxy that cuts, delays and swallows. */
export interface ProxiedDatabase {
  /** DATABASE_URL that leads through the proxy. */
  readonly url: string;
  readonly proxy: TcpProxy;
}

/** Puts a proxy before a database of a server for tests, given its DATABASE_URL. */
export async function proxied(databaseUrl: string): Promise<ProxiedDatabase> {
  const { pathname, username, port, searchParams } = new URL(databaseUrl);
  const proxy = await openTcpProxy({ path: `${searchParams.get('host')}/.s.PGSQL.${port || 5432}` });
  return { url: `postgres://${username}@127.0.0.1:${proxy.port}${pathname}?sslmode=disable`, proxy };
}
