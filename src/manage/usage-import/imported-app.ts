import { appAttributionOf } from '../../ir/app-attribution.ts';
import { originOf } from '../../kit/net/origin-of.ts';
import { type AppSighting, appSightingOf } from '../../ports/apps.ts';
import type { UsageLine } from './usage-line.ts';

type WrittenApp = NonNullable<UsageLine['app']>;

/** Members of an app that are kept under rules of their own. */
export type AppMember = `app.${keyof WrittenApp}`;

/** What is kept of the app of a line. */
export interface ImportedApp {
  /** Undefined where it says nothing that an app is known by. */
  readonly sighting: Omit<AppSighting, 'atMs'> | undefined;
  readonly origin: string | null;
  /** Members that are not kept, or not as they were written. */
  readonly notKept: readonly AppMember[];
}

const NO_APP: ImportedApp = { sighting: undefined, origin: null, notKept: [] };

/** What is kept of the app of a line, by the rules for the headers in which apps say who they are. */
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

/** Apps that are remembered; histories name few of them, again and again. */
const MOST_REMEMBERED = 10_000;

/** Characters of one that is remembered. */
const MOST_CHARACTERS = 2_000;

/** Works out each app once: reading addresses takes longer than all the rest of a line. */
export class ImportedApps {
  readonly #known = new Map<string, ImportedApp>();

  of(written: UsageLine['app']): ImportedApp {
    if (written === null || written === undefined) return NO_APP;
    const key = JSON.stringify(written);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const app = importedAppOf(written);
    if (key.length > MOST_CHARACTERS) return app;
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear();
    this.#known.set(key, app);
    return app;
  }
}
