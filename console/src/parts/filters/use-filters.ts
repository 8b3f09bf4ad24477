import { useQuery } from '@tanstack/preact-query';
import { go, useAddress } from '../../address/address.ts';
import { partMeta } from '../../api/part.ts';
import {
  type ActiveFilter,
  type FilterChoice,
  type FilterField,
  filtersOf,
  withFilter,
} from './filter-fields.ts';

/** The filters of the address. */
export function useFilters(fields: readonly FilterField[]): readonly ActiveFilter[] {
  return filtersOf(useAddress().query, fields);
}

/** Changes a filter of the address; no values remove it. The selection goes: it may not be among the new rows. */
export function useSetFilter(): (
  field: Pick<FilterField, 'name'>,
  values: readonly string[],
  isExcluded?: boolean,
) => void {
  const { path, query } = useAddress();
  return (field, values, isExcluded = false) => {
    const search = withFilter(query, field, values, isExcluded).toString();
    go(search === '' ? path : `${path}?${search}`);
  };
}

const NO_CHOICES: readonly FilterChoice[] = [];

/** The values of a field, read once and kept. Without them values are shown as they are. */
export function useChoices({ name, choices }: FilterField): readonly FilterChoice[] {
  const read = useQuery({
    queryKey: ['filter-choices', name],
    meta: partMeta(`The list of values of the filter by ${name}`),
    queryFn: () => choices?.() ?? Promise.resolve(NO_CHOICES),
    enabled: choices !== undefined,
    staleTime: 60_000,
  });
  return read.data ?? NO_CHOICES;
}
