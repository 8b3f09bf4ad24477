import { countText } from '../../kit/text/count-text.ts';
import type { AppRegistry } from '../../ports/events/apps.ts';
import type { EventFilter } from '../../ports/events/events.ts';
import type { AccountNames } from './account-names.ts';
import { ANALYTICS_DIMENSIONS, type ValueKind } from './analytics-names.ts';
import { type FilterValue, idOf, shownValue } from './filter-values.ts';
import type { NamedFilter } from './parse-filters.ts';

export interface FilterSources {
  readonly names: AccountNames;
  readonly apps: Pick<AppRegistry, 'ofIds'>;
}

/** The stored form of a value, or a warning that nothing matches it. */
type Resolved = { readonly value: string; readonly warning?: string } | { readonly warning: string };

/** Loads what all values need, then returns the function that resolves one. */
type Resolve = (
  values: readonly FilterValue[],
  sources: FilterSources,
) => Promise<(value: FilterValue, path: string) => Resolved>;

const asItIs: Resolve = async () => (value) => ({ value: String(value) });

const RESOLVE: Readonly<Record<ValueKind, Resolve>> = {
  text: asItIs,
  contextLength: asItIs,
  async key(_, { names }) {
    const keys = await names.keys();
    return (value, path) => {
      if (idOf(value) !== undefined) {
        return {
          warning: `${path}: keys here have no numbers: ${value} matches no key; use the hash of a key`,
        };
      }
      const hash = String(value).toLowerCase();
      if (keys.has(hash)) return { value: hash };
      // Unknown, foreign or deleted: only a deleted key of this account can have usage here.
      const warning = `${path}: the account has no key with the hash ${hash}; only usage of a deleted key can match`;
      return { value: hash, warning };
    };
  },
  async workspace(_, { names }) {
    const workspaces = await names.workspaces();
    return (value, path) => {
      const id = String(value).toLowerCase();
      if (workspaces.has(id)) return { value: id };
      // As with keys.
      const warning = `${path}: the account has no workspace ${id}; only usage of a deleted workspace can match`;
      return { value: id, warning };
    };
  },
  async app(values, { apps }) {
    const ids = values.map(idOf).filter((id) => id !== undefined);
    const hosts = new Map((await apps.ofIds(ids)).map(({ id, host }) => [id, host]));
    return (value, path) => {
      const id = idOf(value);
      if (id === undefined) return { value: String(value).toLowerCase() };
      const host = hosts.get(id);
      return host === undefined
        ? { warning: `${path}: there is no app with the id ${shownValue(value)}` }
        : { value: host };
    };
  },
};

/** Translates filters to stored values. A value that matches nothing is dropped with a warning. */
export async function resolveFilters(
  filters: readonly NamedFilter[],
  sources: FilterSources,
): Promise<{ readonly filters: readonly EventFilter[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const resolved: EventFilter[] = [];
  for (const { field, operator, values, includesUnset, path } of filters) {
    const resolve = await RESOLVE[ANALYTICS_DIMENSIONS[field].values](values, sources);
    const found: string[] = [];
    for (const value of values) {
      const answer = resolve(value, path);
      if ('value' in answer) found.push(answer.value);
      if (answer.warning !== undefined) warnings.push(answer.warning);
    }
    resolved.push({ field, operator: LIST_OPERATORS[operator] ?? operator, values: found, includesUnset });
  }
  return { filters: resolved, warnings: shortened(warnings) };
}

const MAX_WARNINGS = 20;

function shortened(warnings: readonly string[]): readonly string[] {
  const left = warnings.length - MAX_WARNINGS;
  if (left <= 0) return warnings;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    `filters: ${countText(left, 'more value is', 'more values are')} unknown too`,
  ];
}

/** Operators of one value as list operators, because values that match nothing were dropped: the list may be empty. */
const LIST_OPERATORS: Readonly<Partial<Record<NamedFilter['operator'], EventFilter['operator']>>> = {
  eq: 'in',
  neq: 'not_in',
};
