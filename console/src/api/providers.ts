import { useQuery } from '@tanstack/preact-query';
import { partMeta } from './part.ts';
import { ask } from './request.ts';

/** All providers of the gateway, with those that it knows. */
export function useAllProviders() {
  return useQuery({
    queryKey: ['providers'],
    meta: partMeta('The list of providers'),
    queryFn: async () => (await ask<{ data: readonly { slug: string; name: string }[] }>('/providers')).data,
    staleTime: 60_000,
  });
}
