import type { Catalog, Provider } from '../catalog.ts';
import { PROVIDER_TABLE } from './provider-table.ts';

export type ProviderInfo = Pick<Provider, 'slug' | 'name' | 'facts'>;

/** All providers of the built-in table and of the configuration, sorted by slug. */
export function allProviders({ providers }: Pick<Catalog, 'providers'>): ProviderInfo[] {
  const known = Object.entries(PROVIDER_TABLE).map(([slug, { name, facts }]) => ({
    slug,
    name,
    ...(facts && { facts }),
  }));
  const all = new Map<string, ProviderInfo>([...known, ...providers].map((info) => [info.slug, info]));
  return [...all.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
}
