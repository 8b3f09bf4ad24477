import type { Endpoint } from './catalog.ts';

/** Service tiers that have endpoints of their own. */
export type Tier = 'flex' | 'priority';

const ENDINGS: readonly { readonly ending: string; readonly tier: Tier }[] = [
  { ending: '/flex', tier: 'flex' },
  { ending: '/priority', tier: 'priority' },
];

/** The tier of an endpoint, by the end of its tag; undefined = standard. */
export function tierOf({ tag }: Pick<Endpoint, 'tag'>): Tier | undefined {
  for (const { ending, tier } of ENDINGS) if (tag.endsWith(ending)) return tier;
  return undefined;
}
