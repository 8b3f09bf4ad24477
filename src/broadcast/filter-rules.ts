import type { Issue } from '../kit/json/validate.ts';
import { compilePattern } from '../kit/text/linear-pattern.ts';
import type {
  FILTER_OPERATOR_NAMES,
  FilterGroup,
  FilterRule,
  FilterRules,
} from '../ports/following/destinations.ts';
import { FILTER_FIELDS, type FilterFacts, type FilterField } from './filter-fields.ts';

/** Whether a generation is sent. */
export type GenerationFilter = (facts: FilterFacts) => boolean;

/** How a rule compares. */
interface FilterOperator {
  readonly kinds: readonly FilterField['kind'][];
  readonly needsValue: boolean;
  /** Makes the comparison with a value of a rule; a field without a value is null. */
  compare(wanted: string | number): (value: string | number | null) => boolean;
}

const BOTH = ['text', 'number'] as const;

function onText(holds: (value: string, wanted: string) => boolean, ifAbsent = false): FilterOperator {
  return {
    kinds: ['text'],
    needsValue: true,
    compare: (wanted) => (value) => (value === null ? ifAbsent : holds(String(value), String(wanted))),
  };
}

function onNumbers(holds: (value: number, wanted: number) => boolean): FilterOperator {
  return {
    kinds: ['number'],
    needsValue: true,
    compare: (wanted) => (value) => value !== null && holds(Number(value), Number(wanted)),
  };
}

/** Operators by their names in rules. */
export const FILTER_OPERATORS: Readonly<Record<string, FilterOperator>> = {
  equals: { kinds: BOTH, needsValue: true, compare: (wanted) => (value) => value === wanted },
  not_equals: { kinds: BOTH, needsValue: true, compare: (wanted) => (value) => value !== wanted },
  contains: onText((value, wanted) => value.includes(wanted)),
  not_contains: onText((value, wanted) => !value.includes(wanted), true),
  regex: {
    kinds: ['text'],
    needsValue: true,
    compare: (wanted) => {
      const compiled = compilePattern(String(wanted));
      // Rules are checked before they are stored: one that this release cannot compile lets nothing out.
      if (!compiled.ok) return () => false;
      return (value) => value !== null && compiled.pattern.test(String(value));
    },
  },
  starts_with: onText((value, wanted) => value.startsWith(wanted)),
  ends_with: onText((value, wanted) => value.endsWith(wanted)),
  gt: onNumbers((value, wanted) => value > wanted),
  lt: onNumbers((value, wanted) => value < wanted),
  gte: onNumbers((value, wanted) => value >= wanted),
  lte: onNumbers((value, wanted) => value <= wanted),
  exists: { kinds: BOTH, needsValue: false, compare: () => (value) => value !== null },
  not_exists: { kinds: BOTH, needsValue: false, compare: () => (value) => value === null },
} satisfies Record<(typeof FILTER_OPERATOR_NAMES)[number], FilterOperator>;

/** Problems of rules that their schema does not find, by paths that begin with `filter_rules`. */
export function filterIssues(rules: Pick<FilterRules, 'groups'> | null | undefined): Issue[] {
  return (rules?.groups ?? []).flatMap(({ rules: inGroup }, group) =>
    inGroup.flatMap((rule, index) => ruleIssues(rule, `filter_rules.groups[${group}].rules[${index}]`)),
  );
}

function ruleIssues({ field, operator, value }: FilterRule, path: string): Issue[] {
  const kind = FILTER_FIELDS[field]?.kind;
  const known = FILTER_OPERATORS[operator];
  if (kind === undefined || known === undefined) {
    return [{ path, message: 'names a field or an operator that there is not' }];
  }
  if (!known.kinds.includes(kind)) {
    const fitting = Object.keys(FILTER_OPERATORS).filter((name) =>
      FILTER_OPERATORS[name]?.kinds.includes(kind),
    );
    return [{ path: `${path}.operator`, message: `must be one of ${fitting.join(', ')} for ${field}` }];
  }
  if (!known.needsValue) {
    return value === null ? [] : [{ path: `${path}.value`, message: `must be left out for ${operator}` }];
  }
  if (kind === 'number' && typeof value !== 'number') {
    return [{ path: `${path}.value`, message: `must be a number for ${field}` }];
  }
  if (kind === 'text' && typeof value !== 'string') {
    return [{ path: `${path}.value`, message: `must be a string for ${field}` }];
  }
  if (operator !== 'regex') return [];
  const compiled = compilePattern(String(value));
  return compiled.ok ? [] : [{ path: `${path}.value`, message: `the pattern ${compiled.problem}` }];
}

const ALL: GenerationFilter = () => true;

/** Makes the filter of some rules, which compiles their patterns: keep it for as long as the rules stay. */
export function filterOf(rules: FilterRules | null): GenerationFilter {
  if (rules === null || !rules.isEnabled || rules.groups.length === 0) return ALL;
  const groups = rules.groups.map(groupFilter);
  return (facts) => groups.some((accepts) => accepts(facts));
}

function groupFilter({ logic, rules }: FilterGroup): GenerationFilter {
  const filters = rules.map(ruleFilter);
  return logic === 'and'
    ? (facts) => filters.every((holds) => holds(facts))
    : (facts) => filters.some((holds) => holds(facts));
}

function ruleFilter({ field, operator, value }: FilterRule): GenerationFilter {
  const known = FILTER_FIELDS[field];
  const holds = FILTER_OPERATORS[operator]?.compare(value ?? '');
  // A rule of a newer release lets nothing out.
  if (known === undefined || holds === undefined) return () => false;
  return (facts) => holds(known.read(facts));
}
