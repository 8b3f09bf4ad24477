import { hostOf, isPublicIp, parseIp } from '../../kit/net/egress.ts';
import { urlOf } from '../../kit/net/url-of.ts';
import { buildProvider } from '../build-provider.ts';
import type { Provider } from '../catalog.ts';
import type { ProviderEntry } from '../entries.ts';
import { rowOf } from './provider-rows.ts';
import type { KeySource } from './provider-table.ts';

/** `isAuthorized` for an entry of the configuration. */
export function hasCredential(entry: ProviderEntry): boolean {
  return isAuthorized(buildProvider(entry));
}

/** True if the provider has a credential or may need none: headers of its own, or an address that is not public. */
export function isAuthorized({ auth, credential, headers, baseUrl }: Provider): boolean {
  if (auth === 'none' || credential !== undefined || Object.keys(headers).length > 0) return true;
  return baseUrl !== undefined && !isPublicAddress(baseUrl);
}

function isPublicAddress(address: string): boolean {
  const url = urlOf(address);
  if (url === undefined) return true;
  const host = hostOf(url);
  const ip = parseIp(host);
  if (ip !== undefined) return isPublicIp(ip);
  return host.includes('.') && !/\.(local|localhost|internal|lan|home|test)$/.test(host);
}

/** The variables that switch a provider of the built-in table on; undefined if none does. */
export function switchingVariables(slug: string): readonly string[] | undefined {
  const [first] = rowOf(slug)?.keys ?? [];
  return first === undefined ? undefined : variablesOf(first);
}

function variablesOf(source: KeySource): readonly string[] {
  return typeof source === 'string' ? [source] : Object.values(source);
}
