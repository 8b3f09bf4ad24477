import { urlOf } from './url-of.ts';

/** Loopback names: without a title they identify no app. */
const LOCAL_HOST = /^(?:localhost|[^:]+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** A name or an address, and perhaps a port. What else an address may hold comes of two that were written as one. */
const HOST = /^(?:[\p{L}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/u;

/** The identity of an app: host and port of its URL, in lower case. Null if there is none. */
export function appHostOf(referer: string | null, title: string | null): string | null {
  const url = referer === null ? undefined : urlOf(referer);
  if (url === undefined) return null;
  const { hostname, port } = url;
  // The name of a host may end in a dot, and means the same without it.
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const host = port === '' ? name : `${name}:${port}`;
  if (!HOST.test(host) || (LOCAL_HOST.test(name) && title === null)) return null;
  return host;
}
