import { appAttributionOf } from '../../ir/apps/app-attribution.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { type AppSighting, appSightingOf } from '../../ports/events/apps.ts';
import type { UsageLine } from './usage-line.ts';

type WrittenApp = NonNullable<UsageLine['app']>;

/** Members of a line's app, as notes name them. */
export type AppMember = `app.${keyof WrittenApp}`;

/** The stored facts of the app of a line. */
export interface ImportedApp {
  /** Undefined if the line does not identify an app. */
  readonly sighting: Omit<AppSighting, 'atMs'> | undefined;
  readonly origin: string | null;
  /** Members that were dropped or shortened. */
  readonly notKept: readonly AppMember[];
}

const NO_APP: ImportedApp = { sighting: undefined, origin: null, notKept: [] };

/** Applies the rules of the app attribution headers to the app of a line. */
export function importedAppOf(written: UsageLine['app']): ImportedApp {
  if (written === null || written === undefined) return NO_APP;
  const { referer = null, title = null, categories = null } = written;
  const kept = appAttributionOf({
    referer: referer ?? undefined,
    title: title ?? undefined,
    categories: categories ?? undefined,
  });
  const sighting = appSightingOf({
    referer: kept.referer ?? null,
    title: kept.title ?? null,
    categories: kept.categories ?? [],
    atMs: 0,
  });
  const isKept: Readonly<Record<AppMember, boolean>> = {
    'app.referer': referer === null || (sighting !== undefined && kept.referer === referer.trim()),
    'app.title': title === null || (sighting !== undefined && kept.title === title.trim()),
    'app.categories':
      categories === null || categories.length === (sighting === undefined ? 0 : sighting.categories.length),
  };
  return {
    sighting,
    origin: originOf(kept.referer ?? null),
    notKept: (Object.keys(isKept) as AppMember[]).filter((member) => !isKept[member]),
  };
}

/** Size of the cache, in apps: a history names few apps, many times each. */
const MAX_CACHED_APPS = 10_000;

/** An app whose JSON is longer, in characters, is not cached. */
const MAX_CACHED_CHARACTERS = 2_000;

/** Caches `importedAppOf`: parsing addresses takes longer than the rest of a line. */
export class ImportedApps {
  readonly #known = new Map<string, ImportedApp>();

  of(written: UsageLine['app']): ImportedApp {
    if (written === null || written === undefined) return NO_APP;
    const key = JSON.stringify(written);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const app = importedAppOf(written);
    if (key.length > MAX_CACHED_CHARACTERS) return app;
    if (this.#known.size >= MAX_CACHED_APPS) this.#known.clear();
    this.#known.set(key, app);
    return app;
  }
}
