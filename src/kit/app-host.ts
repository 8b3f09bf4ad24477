/** Names of apps on the machine of whoever wrote them: they say nothing without a title. */
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What an app is known by: host and port of its address, in lower case. Null for what is no address. */
export function appHostOf(referer: string | null, title: string | null): string | null {
  if (referer === null || !URL.canParse(referer)) return null;
  const { host, hostname } = new URL(referer);
  if (host === '' || (LOCAL_HOSTS.has(hostname.toLowerCase()) && title === null)) return null;
  return host.toLowerCase();
}
