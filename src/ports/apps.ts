import { knownCategoriesOf } from '../ir/app-attribution.ts';
import { appHostOf } from '../kit/net/app-host.ts';

/** An app that calls. Its identity is the host and port of its address. */
export interface App {
  /** Of this installation: 1, 2, 3 and so on. */
  readonly id: number;
  /** Host and port, lower case. */
  readonly host: string;
  /** The address as it was first given, without what may be secret in it. */
  readonly url: string;
  /** What it last called itself; null while it never did. */
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
  /** When, epoch milliseconds: a title of an earlier moment does not replace one of a later, give or take a minute. */
  readonly atMs: number;
}

/** The apps of an installation: those of all accounts. */
export interface AppRegistry {
  /**
   * Makes apps that are new, renames, adds categories. The same sightings again change nothing, so whoever fails half-way
   * tries all of them again.
   */
  note(sightings: readonly AppSighting[]): Promise<void>;
  /** Those that there are. However many are asked for, others have their turn. */
  ofIds(ids: readonly number[]): Promise<readonly App[]>;
  /** Those of the hosts that are known. However many are asked for, others have their turn. */
  ofHosts(hosts: readonly string[]): Promise<readonly App[]>;
  /** The ids of those of the hosts that are known: less work than the apps themselves. */
  idsOf(hosts: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Hosts of those with at least one of the categories. However many there are, others have their turn. */
  hostsOfCategories(categories: readonly string[]): Promise<ReadonlySet<string>>;
  count(): Promise<number>;
}

/** What somebody said of the app that made a request, and when. */
export interface ClaimedApp {
  readonly referer: string | null;
  readonly title: string | null;
  readonly categories: readonly string[];
  readonly atMs: number;
}

/** The app that something was said of; undefined where it says nothing that an app is known by. */
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

/** Names, passwords and what else is only for whom an address was made for. */
function withoutSecrets({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}
