import type { Catalog } from '../../catalog/catalog.ts';
import { stringsAt } from '../../kit/json/members.ts';
import { anyGlob } from '../../kit/text/glob.ts';
import type { ResolutionContext } from '../resolve/resolution.ts';
import type { PluginSettings } from './plugin-settings.ts';

type Test = (id: string) => boolean;

/**
 * Returns the test whether the auto-router may choose a model: the configuration and the request allow it, and the
 * request does not exclude it.
 */
export function allowedModels({ values }: PluginSettings, { autoModels, catalog }: ResolutionContext): Test {
  const isOffered = anyOf(autoModels, catalog) ?? (() => true);
  const isWanted = anyOf(stringsAt(values, 'allowed_models'), catalog) ?? (() => true);
  const isUnwanted = anyOf(stringsAt(values, 'excluded_models'), catalog) ?? (() => false);
  return (id) => isOffered(id) && isWanted(id) && !isUnwanted(id);
}

/** Returns the test whether a pattern matches; one without a star may be an alias. Undefined if there is no list. */
function anyOf(patterns: readonly string[] | undefined, catalog: Catalog): Test | undefined {
  if (patterns === undefined) return undefined;
  const exact = new Set<string>();
  const open: string[] = [];
  for (const pattern of patterns) {
    if (pattern.includes('*')) open.push(pattern);
    else exact.add(catalog.resolve(pattern)?.id ?? pattern);
  }
  const fitsOpen = anyGlob(open);
  return (id) => exact.has(id) || fitsOpen(id);
}
