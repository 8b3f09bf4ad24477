import { knownCategoriesOf } from '../../ir/apps/app-attribution.ts';
import { appHostOf } from '../../kit/net/app-host.ts';

/** An app that calls. Its identity is the host and port of its address. */
export interface App {
  /** Number within this installation: 1, 2, 3 and so on. */
  readonly id: number;
  /** Host and port, lower case. */
  readonly host: string;
  /** The address as it was first given, without what may be secret in it. */
  readonly url: string;
  /** Its latest title; null if it never sent one. */
  readonly title: string | null;
  /** In the order in which they were first named, at most ten. */
  readonly categories: readonly string[];
}

/** A request that said which app made it. */
export interface AppSighting {
  readonly host: string;
  readonly url: string;
  readonly title: string | null;
  readonly categories: readonly string[];
  /** Epoch milliseconds. A title seen earlier does not replace one seen later, give or take a minute. */
  readonly atMs: number;
}

/** The apps of an installation: those of all accounts. */
export interface AppRegistry {
  /**
   * Makes apps that are new, renames, adds categories. The same sightings again change nothing, so a
   * call that failed half-way is repeated as a whole.
   */
  note(sightings: readonly AppSighting[]): Promise<void>;
  /**
   * The apps with these ids, as far as there are any. Reads in slices, so that a long list does not block the event
   * loop.
   */
  ofIds(ids: readonly number[]): Promise<readonly App[]>;
  /** The known apps among these hosts. Reads in slices, as `ofIds` does. */
  ofHosts(hosts: readonly string[]): Promise<readonly App[]>;
  /** The ids of the known apps among these hosts: cheaper than `ofHosts`. */
  idsOf(hosts: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Hosts of the apps with at least one of the categories. Reads in slices, as `ofIds` does. */
  hostsOfCategories(categories: readonly string[]): Promise<ReadonlySet<string>>;
  count(): Promise<number>;
}

/** The claims of a request or an imported line about its app, and their time. */
export interface ClaimedApp {
  readonly referer: string | null;
  readonly title: string | null;
  readonly categories: readonly string[];
  readonly atMs: number;
}

/** The app of a claim; undefined without an address that identifies one. */
export function appSightingOf({ referer, title, categories, atMs }: ClaimedApp): AppSighting | undefined {
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

/** Drops the user name, password, query and fragment of an address. */
function withoutSecrets({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
