import type { Endpoint } from '../../catalog/catalog.ts';

/** Service tiers that have endpoints of their own. */
export type Tier = 'flex' | 'priority';

const ENDINGS: readonly (readonly [ending: string, tier: Tier])[] = [
  ['/flex', 'flex'],
  ['/priority', 'priority'],
];

/** The tier that an endpoint is of, which is the end of its slug; undefined = the standard one. */
export function tierOf({ tag }: Pick<Endpoint, 'tag'>): Tier | undefined {
  return ENDINGS.find(([ending]) => tag.endsWith(ending))?.[1];
}
