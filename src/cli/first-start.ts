import { isIPv6 } from 'node:net';
import type { FirstKeys } from '../manage/bootstrap.ts';

/** Addresses that mean "every address of this machine": one cannot connect to them, so loopback is shown. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address that clients on this machine use. `basePath` begins with a slash. */
export function baseUrl(host: string, port: number, basePath: string): string {
  const reachable = ANY_ADDRESS[host] ?? host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}${basePath}`;
}

/** The model that answers without any provider. */
const FIRST_MODEL = 'simulator/standard';

/** What the first start prints: the two keys, the address, and a command that works when pasted. */
export function firstStartText(keys: FirstKeys, url: string): string {
  const body = JSON.stringify({ model: FIRST_MODEL, messages: [{ role: 'user', content: 'Hello!' }] });
  return `Signalbox is ready at ${url}

  Management key  ${keys.managementKey}
  API key         ${keys.apiKey}

These keys are shown this once; only their hashes are stored. Try it:

  curl ${url}/chat/completions -H "Authorization: Bearer ${keys.apiKey}" -H "Content-Type: application/json" -d '${body}'

`;
}
