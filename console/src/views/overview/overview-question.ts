import type { Overview, OverviewDimension } from '../../api/contract.ts';
import { ask } from '../../api/request.ts';
import {
  keyChoices,
  modelChoices,
  providerChoices,
  workspaceChoices,
} from '../../parts/filters/dictionaries.ts';
import { type FilterField, filtersOf } from '../../parts/filters/filter-fields.ts';
import { knownMomentsOf, rangeOf } from '../../parts/range/range.ts';

const FIELDS: readonly FilterField[] = [
  { name: 'model', label: 'model', kind: 'choice', choices: modelChoices },
  { name: 'provider', label: 'provider', kind: 'choice', choices: providerChoices },
  { name: 'app', label: 'app', kind: 'choice' },
];

const FIELDS_OF_ACCOUNTS: readonly FilterField[] = [
  ...FIELDS,
  { name: 'key', label: 'key', kind: 'choice', choices: keyChoices },
  { name: 'workspace', label: 'workspace', kind: 'choice', choices: workspaceChoices },
];

/** What the overview can be filtered by; `isAccount`: all keys of the account are shown. */
export function overviewFields(isAccount: boolean): readonly FilterField[] {
  return isAccount ? FIELDS_OF_ACCOUNTS : FIELDS;
}

export const DIMENSIONS: readonly OverviewDimension[] = ['model', 'provider', 'key', 'workspace', 'app'];

/** The question for the figures of an address. */
export function overviewQuestion(address: URLSearchParams, isAccount: boolean) {
  const range = rangeOf(address);
  const by = DIMENSIONS.find((name) => name === address.get('by')) ?? 'model';
  const filters = filtersOf(address, overviewFields(isAccount));
  const wanted = Object.fromEntries(filters.map(({ field, values }) => [field.name, values.join(',')]));
  return {
    queryKey: ['overview', range.from, range.to, by, wanted],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Overview> => {
      const { fromMs, toMs } = knownMomentsOf(range, Date.now());
      const query = { from: iso(fromMs), to: iso(toMs), by, ...wanted };
      return (await ask<{ data: Overview }>('/overview', { query, signal })).data;
    },
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
