import type { Catalog, Provider } from '../catalog.ts';
import { PROVIDER_TABLE } from './provider-table.ts';

/** What is told of a provider, whether it is on or not. */
export type ProviderInfo = Pick<Provider, 'slug' | 'name' | 'facts'>;

/** Every provider by slug: those of the table, on or not, and those that only this gateway has. */
export function allProviders({ providers }: Pick<Catalog, 'providers'>): ProviderInfo[] {
  const known = Object.entries(PROVIDER_TABLE).map(([slug, { name, facts }]) => ({
    slug,
    name,
    ...(facts && { facts }),
  }));
  const all = new Map<string, ProviderInfo>([...known, ...providers].map((info) => [info.slug, info]));
  return [...all.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
}
