import type { Issue } from '../kit/json/validate.ts';
import type { Sliced } from '../kit/loop/turns.ts';
import type {
  FILTER_OPERATOR_NAMES,
  FilterGroup,
  FilterRule,
  FilterRules,
} from '../ports/following/destinations.ts';
import { FILTER_FIELDS, type FilterFacts, type FilterField } from './filter-fields.ts';
import { type PatternWork, patternProblems, RulePattern } from './rule-pattern.ts';

export type GenerationFilter = (facts: FilterFacts) => Sliced<boolean>;

type Value = string | number | null;

/** Whether a value is as a rule wants it; a field without a value is null. */
type Comparison = (value: Value, work: PatternWork) => boolean | Sliced<boolean>;

interface FilterOperator {
  readonly kinds: readonly FilterField['kind'][];
  readonly needsValue: boolean;
  compare(wanted: string | number): Comparison;
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

export const FILTER_OPERATORS: Readonly<Record<string, FilterOperator>> = {
  equals: { kinds: BOTH, needsValue: true, compare: (wanted) => (value) => value === wanted },
  not_equals: { kinds: BOTH, needsValue: true, compare: (wanted) => (value) => value !== wanted },
  contains: onText((value, wanted) => value.includes(wanted)),
  not_contains: onText((value, wanted) => !value.includes(wanted), true),
  regex: {
    kinds: ['text'],
    needsValue: true,
    compare: (wanted) => {
      const pattern = new RulePattern(String(wanted));
      return (value, work) => value !== null && pattern.isIn(String(value), work);
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
  const all = (rules?.groups ?? []).flatMap(({ rules: inGroup }, group) =>
    inGroup.map((rule, index) => ({ rule, path: `filter_rules.groups[${group}].rules[${index}]` })),
  );
  const issues = all.flatMap(({ rule, path }) => ruleIssues(rule, path));
  const patterns = all.filter(
    ({ rule: { operator, value } }) => operator === REGEX && typeof value === 'string',
  );
  for (const [place, problem] of patternProblems(patterns.map(({ rule }) => String(rule.value)))) {
    issues.push({ path: `${patterns[place]?.path}.value`, message: `the pattern ${problem}` });
  }
  return issues;
}

const REGEX = 'regex' satisfies keyof typeof FILTER_OPERATORS;

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
  return [];
}

/** Makes the filter of some rules. Keep it for as long as they stay: it compiles their patterns. */
export function filterOf(rules: FilterRules | null): GenerationFilter {
  const groups =
    rules?.isEnabled === true
      ? rules.groups.map(({ logic, rules: inGroup }) => ({ logic, rules: inGroup.map(ruleFilter) }))
      : [];
  return function* (facts) {
    const asked: AskedGeneration = { facts, values: new Map(), work: { spent: 0 } };
    for (const group of groups) if (yield* accepts(group, asked)) return true;
    return groups.length === 0;
  };
}

interface AskedGeneration {
  readonly facts: FilterFacts;
  /** Values of fields that were read: reading a prompt takes time. */
  readonly values: Map<FilterField, Value>;
  readonly work: PatternWork;
}

type RuleFilter = (asked: AskedGeneration) => boolean | Sliced<boolean>;

function* accepts(
  { logic, rules }: { readonly logic: FilterGroup['logic']; readonly rules: readonly RuleFilter[] },
  asked: AskedGeneration,
): Sliced<boolean> {
  const decides = logic === 'or';
  for (const rule of rules) {
    const outcome = rule(asked);
    if ((typeof outcome === 'boolean' ? outcome : yield* outcome) === decides) return decides;
    yield;
  }
  return !decides;
}

function ruleFilter({ field, operator, value }: FilterRule): RuleFilter {
  const known = FILTER_FIELDS[field];
  const holds = FILTER_OPERATORS[operator]?.compare(value ?? '');
  // A rule of a newer release lets nothing out.
  if (known === undefined || holds === undefined) return () => false;
  return ({ facts, values, work }) => {
    let seen = values.get(known);
    if (seen === undefined) {
      seen = known.read(facts);
      values.set(known, seen);
    }
    return holds(seen, work);
  };
}
