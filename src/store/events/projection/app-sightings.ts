import { mergedCategories } from '../../../ir/apps/app-categories.ts';
import { stringsAt, textAt } from '../../../kit/json/members.ts';
import { type AppSighting, appSightingOf } from '../../../ports/events/apps.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';

/** The apps of generations: one sighting each, with the latest title and all categories. */
export function appSightingsOf(
  generations: readonly Pick<StoredGeneration, 'row' | 'settledAtMs'>[],
): AppSighting[] {
  return oneSightingPerApp(generations.map(sightingOf));
}

export function oneSightingPerApp(seen: readonly (AppSighting | undefined)[]): AppSighting[] {
  const sightings = new Map<string, AppSighting>();
  for (const sighting of seen) {
    if (sighting === undefined) continue;
    const before = sightings.get(sighting.host);
    sightings.set(sighting.host, before === undefined ? sighting : mergedSighting(before, sighting));
  }
  return [...sightings.values()];
}

/** The app of a generation; undefined without an address that identifies one. */
export function sightingOf({
  row,
  settledAtMs,
}: Pick<StoredGeneration, 'row' | 'settledAtMs'>): AppSighting | undefined {
  const referer = textAt(row, 'http_referer');
  if (referer === undefined) return undefined;
  const createdAtMs = Date.parse(textAt(row, 'created_at') ?? '');
  return appSightingOf({
    referer,
    title: textAt(row, 'app_title') ?? null,
    categories: stringsAt(row, 'app_categories') ?? [],
    atMs: Number.isNaN(createdAtMs) ? settledAtMs : createdAtMs,
  });
}

export function mergedSighting(first: AppSighting, second: AppSighting): AppSighting {
  const isNewer = second.title !== null && (first.title === null || second.atMs > first.atMs);
  const titled = isNewer ? second : first;
  return {
    ...first,
    title: titled.title,
    atMs: titled.atMs,
    categories: mergedCategories(first.categories, second.categories),
  };
}
