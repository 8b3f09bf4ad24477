import { type AnalyticsFilter, MAX_FILTER_VALUES } from '../../contract/analytics/analytics.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { OPERATORS, type Operator } from '../../ports/events/event-names.ts';
import { ANALYTICS_DIMENSIONS, type AnalyticsDimension } from './analytics-names.ts';
import { contextLengthsOf, type FilterValue, VALUE_RULES } from './filter-values.ts';

/** A checked filter; values are as the caller wrote them (ids, hashes, names). */
export interface NamedFilter {
  readonly path: string;
  readonly field: AnalyticsDimension;
  readonly operator: Operator;
  readonly values: readonly FilterValue[];
  readonly includesUnset: boolean;
}

const ORDERING: ReadonlySet<Operator> = new Set(['gt', 'gte', 'lt', 'lte']);

/** Checks filters that have passed the schema; problems are added to `issues`. */
export function parseFilters(given: readonly AnalyticsFilter[], issues: Issue[]): NamedFilter[] {
  const filters = given.map((filter, index) => {
    const path = `filters[${index}]`;
    issues.push(...filterIssues(filter, path));
    return namedFilter(filter, path);
  });
  if (filters.reduce((sum, { values }) => sum + values.length, 0) > MAX_FILTER_VALUES) {
    issues.push({ path: 'filters', message: `must have at most ${MAX_FILTER_VALUES} values altogether` });
  }
  return filters;
}

/** The problem if an operator has a list instead of one value, or the reverse. */
export function kindProblem(operator: Operator, value: AnalyticsFilter['value']): string | undefined {
  const isList = OPERATORS[operator] === 'array';
  if (Array.isArray(value) === isList) return undefined;
  return `must be ${isList ? 'a list' : 'one value'} for ${operator}`;
}

function filterIssues({ field, operator, value, include_unset }: AnalyticsFilter, path: string): Issue[] {
  const comparison = operator as Operator;
  const { values: kind, hasUnset } = ANALYTICS_DIMENSIONS[field as AnalyticsDimension];
  const issues = valueIssues(comparison, value, `${path}.value`, VALUE_RULES[kind].problemOf);
  if (!VALUE_RULES[kind].isOrdered && ORDERING.has(comparison)) {
    issues.push({
      path: `${path}.operator`,
      message: `${operator} does not fit ${field}, which has no order`,
    });
  }
  if (include_unset === true && OPERATORS[comparison] !== 'array') {
    issues.push({ path: `${path}.include_unset`, message: 'goes with the operators in and not_in only' });
  } else if (include_unset === true && !hasUnset) {
    issues.push({
      path: `${path}.include_unset`,
      message: `does not fit ${field}, which always has a value`,
    });
  }
  return issues;
}

function valueIssues(
  operator: Operator,
  value: AnalyticsFilter['value'],
  path: string,
  problemOf: (value: FilterValue) => string | undefined,
): Issue[] {
  const wrongKind = kindProblem(operator, value);
  if (wrongKind !== undefined) return [{ path, message: wrongKind }];
  return listOf(value).flatMap((one, index) => {
    const message = problemOf(one);
    if (message === undefined) return [];
    return [{ path: Array.isArray(value) ? `${path}[${index}]` : path, message }];
  });
}

function namedFilter(given: AnalyticsFilter, path: string): NamedFilter {
  const field = given.field as AnalyticsDimension;
  const operator = given.operator as Operator;
  const values = listOf(given.value);
  const isLength = ANALYTICS_DIMENSIONS[field].values === 'contextLength';
  const meant = isLength ? contextLengthsOf(operator, values[0] ?? '') : undefined;
  return {
    path: `${path}.value`,
    field,
    ...(meant === undefined ? { operator, values } : { operator: 'in' as const, values: meant }),
    includesUnset: given.include_unset ?? false,
  };
}

function listOf(value: AnalyticsFilter['value']): readonly FilterValue[] {
  return Array.isArray(value) ? value : [value];
}
