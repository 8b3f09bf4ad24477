import { isIPv6 } from 'node:net';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { FirstKeys } from '../../manage/keys/bootstrap.ts';

/** Wildcard addresses, which clients cannot connect to, and the loopback address shown instead. */
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export interface ServedAt {
  readonly host: string;
  readonly port: number;
  /** Begins with a slash. */
  readonly basePath: string;
  readonly isTls: boolean;
}

export function baseUrl({ host, port, basePath, isTls }: ServedAt): string {
  const reachable = lookUp(ANY_ADDRESS, host) ?? host;
  return `${isTls ? 'https' : 'http'}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}${basePath}`;
}

export interface FirstStart {
  readonly url: string;
  readonly dataDir: string;
  /** Address of the console; undefined if this gateway has none. */
  readonly console: string | undefined;
  /** A model to try; undefined if none is served yet. */
  readonly model: string | undefined;
  /** The version of Node that runs it, such as `20.19.2`. */
  readonly node: string;
}

/** Major versions of Node below this one take a tenth more processor time for a request. */
const QUICK_NODE = 22;

/** Text of the first start: both keys, the addresses, the data directory, and an example command. */
export function firstStartText(keys: FirstKeys, { url, dataDir, console, model, node }: FirstStart): string {
  return `Signalbox is ready at ${url}

  API key         ${keys.apiKey}
  Management key  ${keys.managementKey}
  Data directory  ${dataDir}${console === undefined ? '' : `\n  Console         ${console}, sign in with the management key`}

${nodeAdvice(node)}These keys are shown this once; only their hashes are stored. Try it:

  ${exampleOf(keys, url, model)}

`;
}

function nodeAdvice(node: string): string {
  const isSlow = Number.parseInt(node, 10) < QUICK_NODE;
  return isSlow ? `This is Node ${node}. With Node 24 requests take a tenth less processor time.\n\n` : '';
}

/** Keys and address of the first start as one line of JSON. */
export function firstStartJson({ managementKey, apiKey }: FirstKeys, url: string): string {
  return `${JSON.stringify({ base_url: url, management_key: managementKey, api_key: apiKey })}\n`;
}

/** The request that README and the console's Start show too, or the list of models if none is served yet. */
function exampleOf({ apiKey }: FirstKeys, url: string, model: string | undefined): string {
  if (model === undefined) return `curl ${shellWord(`${url}/models`)}`;
  const body = JSON.stringify({ model, input: 'Hello' });
  return (
    `curl ${shellWord(`${url}/responses`)} -H "Authorization: Bearer ${apiKey}" -H 'Content-Type: application/json' ` +
    `-d '${body}'`
  );
}

/** Quoted if it has the brackets of an IPv6 address, which are a pattern for the shell. */
function shellWord(address: string): string {
  return address.includes('[') ? `'${address}'` : address;
}
