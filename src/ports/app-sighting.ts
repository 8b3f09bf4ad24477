import { knownCategoriesOf } from '../ir/app-attribution.ts';
import { appHostOf } from '../kit/net/app-host.ts';
import type { AppSighting } from './apps.ts';

/** What somebody said of the app that made a request, and when. */
export interface SaidOfApp {
  readonly referer: string | null;
  readonly title: string | null;
  readonly categories: readonly string[];
  readonly atMs: number;
}

/** The app that something was said of; undefined where it says nothing that an app is known by. */
export function appSightingOf({ referer, title, categories, atMs }: SaidOfApp): AppSighting | undefined {
  const host = appHostOf(referer, title);
  if (referer === null || host === null) return undefined;
  return {
    host,
    url: withoutSecrets(new URL(referer)),
    title,
    categories: knownCategoriesOf(categories),
    atMs,
  };
}

/** Names, passwords and what else is only for whom an address was made for. */
function withoutSecrets({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
