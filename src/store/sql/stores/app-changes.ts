import { mergedCategories } from '../../../ir/apps/app-categories.ts';
import type { App, AppSighting } from '../../../ports/events/apps.ts';

export interface NotedApp extends Omit<App, 'id'> {
  /** When the title was last seen; null without a title. */
  readonly titledAtMs: number | null;
}

/** Changes to the registry: new apps, new titles, new categories. */
export interface AppChanges {
  readonly made: readonly NotedApp[];
  readonly retitled: readonly NotedApp[];
  readonly tagged: readonly { readonly host: string; readonly category: string; readonly place: number }[];
}

/** The time of an unchanged title is updated at most this often, so that not every request causes a write. */
const SAME_TITLE_MS = 60_000;

/** The changes that record sightings. `known`: the registered apps among them. */
export function appChanges(
  known: ReadonlyMap<string, NotedApp>,
  sightings: readonly AppSighting[],
): AppChanges {
  const after = new Map<string, NotedApp>();
  for (const sighting of sightings) {
    const { host } = sighting;
    after.set(host, noted(after.get(host) ?? known.get(host) ?? nothingOf(sighting), sighting));
  }
  const apps = [...after.values()];
  return {
    made: apps.filter(({ host }) => !known.has(host)),
    retitled: apps.filter(({ host, titledAtMs }) => {
      const before = known.get(host);
      return before !== undefined && before.titledAtMs !== titledAtMs;
    }),
    tagged: apps.flatMap(({ host, categories }) => {
      const before = known.get(host)?.categories.length ?? 0;
      return categories.slice(before).map((category, index) => ({ host, category, place: before + index }));
    }),
  };
}

function nothingOf({ host, url }: AppSighting): NotedApp {
  return { host, url, title: null, titledAtMs: null, categories: [] };
}

function noted(app: NotedApp, { title, atMs, categories }: AppSighting): NotedApp {
  return {
    ...app,
    ...(title !== null && isLater(app, title, atMs) && { title, titledAtMs: atMs }),
    categories: mergedCategories(app.categories, categories),
  };
}

function isLater(app: NotedApp, title: string, atMs: number): boolean {
  if (app.titledAtMs === null) return true;
  return atMs > app.titledAtMs + (title === app.title ? SAME_TITLE_MS : 0);
}
