import { isIPv6 } from 'node:net';
import { lookUp } from '../../kit/net/lookup.ts';
import type { FirstKeys } from '../../manage/keys/bootstrap.ts';

/** Addresses that mean "every address of this machine": one cannot connect to them, so loopback is shown. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address that clients on this machine use. `basePath` begins with a slash. */
export function baseUrl(host: string, port: number, basePath: string): string {
  const reachable = lookUp(ANY_ADDRESS, host) ?? host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}${basePath}`;
}

/** What the first start prints: the two keys, the address, and a command that works when pasted. */
export function firstStartText(keys: FirstKeys, url: string, model: string | undefined): string {
  return `Signalbox is ready at ${url}

  Management key  ${keys.managementKey}
  API key         ${keys.apiKey}

These keys are shown this once; only their hashes are stored. Try it:

  ${exampleOf(keys, url, model)}

`;
}

/** The same for a program: one line that is one JSON object. */
export function firstStartJson({ managementKey, apiKey }: FirstKeys, url: string): string {
  return `${JSON.stringify({ base_url: url, management_key: managementKey, api_key: apiKey })}\n`;
}

/** A command that asks the model, or for the list of models where none is served yet. */
function exampleOf({ apiKey }: FirstKeys, url: string, model: string | undefined): string {
  if (model === undefined) return `curl ${url}/models`;
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${url}/chat/completions -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" -d '${body}'`;
}
