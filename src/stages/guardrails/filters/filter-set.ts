import { RecentMap } from '../../../kit/collections/recent-map.ts';
import { runAtOnce, type Sliced } from '../../../kit/loop/turns.ts';
import { AnyMatch } from '../../../kit/pattern/any-match.ts';
import { longestMatch } from '../../../kit/pattern/longest-match.ts';
import {
  type AppliedGuardrail,
  type BuiltinFilter,
  type CustomFilter,
  FILTER_ACTIONS,
  type FilterAction,
} from '../../../ports/tenancy/guardrails.ts';
import { type CompiledPattern, compilingPattern, STORED_PATTERN_LIMITS } from './check-pattern.ts';
import { MAX_WINDOW_MATCH } from './crossings.ts';
import type { Finding, FindingSource, TextPlace } from './finding.ts';
import { DATA_FILTERS, type FilterWords } from './personal-data.ts';
import { ScanBudget } from './scan-budget.ts';
import { type ActiveFilter, type FilterMatcher, Scanner } from './scanner.ts';
import type { StreamScan } from './stream-scan.ts';

/** The kinds of places that filters may treat differently. */
type PlaceKind = 'sent-user' | 'sent-other' | 'received';

const INJECTION_WORDS: FilterWords = { label: 'Prompt injection', redaction: '[PROMPT_INJECTION]' };
/** Words of a custom filter without a label. */
const NO_LABEL: FilterWords = { label: '[BLOCKED]', redaction: '[REDACTED]' };

/** Compiled custom patterns by their source, in the order of the guardrails. */
type Patterns = Map<string, CompiledPattern>;

export class FilterSet {
  readonly #scanners: Readonly<Record<PlaceKind, Scanner>>;
  /** All custom patterns, which are the same in all places, if one has long matches. */
  readonly #long: Scanner | undefined;

  private constructor(scanners: Readonly<Record<PlaceKind, Scanner>>, long: Scanner | undefined) {
    this.#scanners = scanners;
    this.#long = long;
  }

  /** The filters of some guardrails; where several have the same filter, the strictest action holds. */
  static *of(applied: readonly AppliedGuardrail[]): Sliced<FilterSet> {
    const patterns: Patterns = new Map();
    for (const { guardrail } of applied) {
      for (const { pattern } of guardrail.filters ?? []) {
        const compilation = yield* compilingPattern(pattern, STORED_PATTERN_LIMITS);
        // Patterns are checked before they are stored.
        if (typeof compilation === 'string') throw new Error(`a stored pattern ${compilation}`);
        patterns.set(pattern, compilation);
      }
    }
    // All places have the same custom patterns.
    const anyMatch =
      patterns.size === 0
        ? undefined
        : yield* AnyMatch.of(Array.from(patterns.values(), ({ program }) => program));
    const scanner = (kind: PlaceKind) => new Scanner(filtersFor(applied, kind, patterns), anyMatch);
    const received = scanner('received');
    const custom = received.filters.filter(({ matcher }) => matcher.kind === 'pattern');
    const hasLong = Array.from(patterns.values()).some(
      ({ program }) => longestMatch(program) > MAX_WINDOW_MATCH,
    );
    return new FilterSet(
      { 'sent-user': scanner('sent-user'), 'sent-other': scanner('sent-other'), received },
      hasLong ? new Scanner(custom, anyMatch) : undefined,
    );
  }

  reads(direction: TextPlace['direction']): boolean {
    if (direction === 'received') return this.#scanners.received.filters.length > 0;
    // A filter of user messages only is among these too.
    return this.#scanners['sent-user'].filters.length > 0;
  }

  scan(text: string, place: TextPlace): Finding[] {
    return runAtOnce(this.scanInSlices(text, place));
  }

  /** `scan` in slices of a few milliseconds at most: other work may run after each. */
  scanInSlices(text: string, place: TextPlace, budget = new ScanBudget()): Sliced<Finding[]> {
    return this.#scanners[kindOf(place)].scan(text, budget);
  }

  /**
   * Searches for the custom patterns if one of them has matches longer than `MAX_WINDOW_MATCH`; else finds nothing.
   */
  *scanForLong(text: string, budget = new ScanBudget()): Sliced<Finding[]> {
    return this.#long === undefined ? [] : yield* this.#long.scan(text, budget);
  }

  get sliceCharacters(): number {
    return this.#scanners.received.sliceCharacters;
  }

  /** For a text that comes in pieces. Prompt injections are looked for in whole texts only. */
  stream(place: TextPlace, budget = new ScanBudget()): StreamScan {
    return this.#scanners[kindOf(place)].stream(budget);
  }
}

function kindOf({ direction, role }: TextPlace): PlaceKind {
  if (direction === 'received') return 'received';
  return role === 'user' ? 'sent-user' : 'sent-other';
}

/** Sets of filters by the list of guardrails that they were made of, and by what those say. */
const byList = new WeakMap<readonly AppliedGuardrail[], FilterSet>();
const byContent = new RecentMap<string, FilterSet>(200);

export function* preparedFilters(applied: readonly AppliedGuardrail[]): Sliced<FilterSet> {
  const known = byList.get(applied);
  if (known !== undefined) return known;
  const key = JSON.stringify(
    applied.map(({ guardrail: { id, builtins, filters }, scope }) => [id, scope, builtins, filters]),
  );
  const filters = byContent.get(key) ?? (yield* FilterSet.of(applied));
  byContent.set(key, filters);
  byList.set(applied, filters);
  return filters;
}

/** `preparedFilters` without slices. */
export function compileFilters(applied: readonly AppliedGuardrail[]): FilterSet {
  return byList.get(applied) ?? runAtOnce(preparedFilters(applied));
}

function filtersFor(
  applied: readonly AppliedGuardrail[],
  kind: PlaceKind,
  patterns: Patterns,
): ActiveFilter[] {
  const strictest = new Map<string, ActiveFilter>();
  const add = (key: string, filter: ActiveFilter | undefined) => {
    if (filter === undefined) return;
    const known = strictest.get(key);
    if (known === undefined || isStricter(filter.source.action, known.source.action))
      strictest.set(key, filter);
  };
  for (const { guardrail, scope } of applied) {
    const owner = { guardrailId: guardrail.id, scope };
    for (const builtin of guardrail.builtins ?? []) {
      if (reads(builtin, kind)) add(`builtin ${builtin.slug}`, builtinFilter(builtin, owner));
    }
    for (const custom of guardrail.filters ?? []) {
      const pattern = patterns.get(custom.pattern);
      if (pattern !== undefined) add(`custom ${custom.pattern}`, customFilter(custom, pattern, owner));
    }
  }
  return [...strictest.values()];
}

function isStricter(action: FilterAction, than: FilterAction): boolean {
  return FILTER_ACTIONS.indexOf(action) < FILTER_ACTIONS.indexOf(than);
}

/** An answer cannot inject anything into the request that it answers. */
function reads({ slug, scanScope }: BuiltinFilter, kind: PlaceKind): boolean {
  if (slug !== 'regex-prompt-injection') return true;
  return kind === 'sent-user' || (kind === 'sent-other' && scanScope === 'all_messages');
}

type Owner = Pick<FindingSource, 'guardrailId' | 'scope'>;

/** Undefined for the filters that a service does. */
function builtinFilter({ slug, action }: BuiltinFilter, owner: Owner): ActiveFilter | undefined {
  const engine = 'regex';
  if (slug === 'regex-prompt-injection') {
    const source = {
      name: slug,
      ...INJECTION_WORDS,
      action,
      engine,
      kind: 'prompt-injection',
      ...owner,
    } as const;
    return { source, matcher: { kind: 'injection' } };
  }
  const filter = DATA_FILTERS.find((row) => row.slug === slug);
  if (filter === undefined) return undefined;
  const { label, redaction, shapes } = filter;
  const source = { name: slug, label, redaction, action, engine, kind: 'content-filter', ...owner } as const;
  return { source, matcher: { kind: 'shapes', shapes } };
}

function customFilter({ action, label }: CustomFilter, pattern: CompiledPattern, owner: Owner): ActiveFilter {
  const words = label === null ? NO_LABEL : { label, redaction: bracketed(label) };
  const matcher: FilterMatcher = { kind: 'pattern', pattern };
  const name = label ?? 'custom';
  return { source: { name, ...words, action, engine: 'regex', kind: 'content-filter', ...owner }, matcher };
}

function bracketed(label: string): string {
  return /^\[.*\]$/s.test(label) ? label : `[${label}]`;
}
