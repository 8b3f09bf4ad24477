import type { TranslationEntry } from '../ir/metadata.ts';
import type { GenerationRequest } from '../ir/request.ts';
import { quoted } from '../kit/text/quoted.ts';
import type { PreferredModel } from './rules/candidates.ts';
import { type Preferences, statedPartition } from './rules/preferences.ts';
import { namesOf } from './rules/provider-names.ts';

/** Preferences that are lists of names. */
const NAME_LISTS = ['order', 'only', 'ignore'] as const satisfies readonly (keyof Preferences)[];

/** Names shown in one entry. */
const MAX_SHOWN_NAMES = 5;

/** Report entries for preferences that were understood but have no effect. */
export function ineffectivePreferences(
  { wishes: { provider, route } }: GenerationRequest,
  models: readonly PreferredModel[],
  preferences: Preferences,
): TranslationEntry[] {
  const report: TranslationEntry[] = [];
  const partition = statedPartition(provider);
  if (route !== undefined && partition !== undefined && (route === 'sort') !== (partition === 'none')) {
    report.push({ field: 'route', action: 'dropped', detail: 'provider.sort.partition says otherwise' });
  }
  const { order, only, ignore } = preferences;
  if (order.size === 0 && (only?.size ?? 0) === 0 && ignore.size === 0) return report;
  const lists = NAME_LISTS.filter((name) => (preferences[name]?.size ?? 0) > 0);
  const known = new Set(models.flatMap(({ model }) => model.endpoints.flatMap(namesOf)));
  for (const list of lists) {
    const unknown = [...(preferences[list]?.keys() ?? [])].filter((name) => !known.has(name));
    if (unknown.length > 0) report.push(entryFor(list, unknown));
  }
  return report;
}

function entryFor(list: string, names: readonly string[]): TranslationEntry {
  const more = names.length > MAX_SHOWN_NAMES ? ` and ${names.length - MAX_SHOWN_NAMES} more` : '';
  return {
    field: `provider.${list}`,
    action: 'dropped',
    detail: `no endpoint of the requested models is named ${names.slice(0, MAX_SHOWN_NAMES).map(quoted).join(', ')}${more}`,
  };
}
