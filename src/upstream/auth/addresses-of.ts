import type { Provider } from '../../catalog/catalog.ts';
import { destinationOf } from './destination.ts';

/** Where calls to a provider may go with the credential that the gateway has: no two alike, none for the simulator. */
export function addressesOf(provider: Provider): readonly string[] {
  if (provider.dialect === 'simulator') return [];
  const { credential } = provider;
  const usual = destinationOf({ provider, modelId: '', upstreamModel: '' }, credential)?.baseUrl;
  const named = credential?.kind === 'azure' ? credential.deployments.map(({ baseUrl }) => baseUrl) : [];
  const tokens = credential?.kind === 'google-service-account' ? [credential.tokenUri] : [];
  return [...new Set([...(usual === undefined ? [] : [usual]), ...named, ...tokens])];
}
