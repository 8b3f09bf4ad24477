import { LRUCache } from 'lru-cache';
import type { Sliced } from '../../../kit/loop/turns.ts';
import {
  type AppliedGuardrail,
  type BuiltinFilter,
  type CustomFilter,
  FILTER_ACTIONS,
  type FilterAction,
} from '../../../ports/guardrails.ts';
import { compiledPattern, isCompiled } from './check-pattern.ts';
import type { Finding, FindingSource, TextPlace } from './finding.ts';
import { DATA_FILTERS, type FilterWords } from './personal-data.ts';
import { type ActiveFilter, type FilterMatcher, Scanner } from './scanner.ts';
import type { StreamScan } from './stream-scan.ts';

/** The kinds of places that filters may treat differently. */
type PlaceKind = 'sent-user' | 'sent-other' | 'received';

const INJECTION_WORDS: FilterWords = { label: 'Prompt injection', redaction: '[PROMPT_INJECTION]' };
/** Words of a custom filter without a label. */
const NO_LABEL: FilterWords = { label: '[BLOCKED]', redaction: '[REDACTED]' };

/** The filters of all guardrails that apply to a caller. */
export class FilterSet {
  readonly #scanners: Readonly<Record<PlaceKind, Scanner>>;

  constructor(applied: readonly AppliedGuardrail[]) {
    this.#scanners = {
      'sent-user': new Scanner(filtersFor(applied, 'sent-user')),
      'sent-other': new Scanner(filtersFor(applied, 'sent-other')),
      received: new Scanner(filtersFor(applied, 'received')),
    };
  }

  /** Whether any filter reads texts of a direction. */
  reads(direction: TextPlace['direction']): boolean {
    if (direction === 'received') return this.#scanners.received.filters.length > 0;
    // A filter of user messages only is among these too.
    return this.#scanners['sent-user'].filters.length > 0;
  }

  /** All findings in a text, in order. */
  scan(text: string, place: TextPlace): Finding[] {
    const steps = this.scanInSlices(text, place);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same, in slices of a few milliseconds at most: others may run after each. */
  scanInSlices(text: string, place: TextPlace): Generator<undefined, Finding[]> {
    return this.#scanners[kindOf(place)].scan(text);
  }

  /** For a text that comes in pieces. Prompt injections are looked for in whole texts only. */
  stream(place: TextPlace): StreamScan {
    return this.#scanners[kindOf(place)].stream();
  }
}

function kindOf({ direction, role }: TextPlace): PlaceKind {
  if (direction === 'received') return 'received';
  return role === 'user' ? 'sent-user' : 'sent-other';
}

/** Sets of filters by the list of guardrails that they were made of, and by what those say. */
const byList = new WeakMap<readonly AppliedGuardrail[], FilterSet>();
const byContent = new LRUCache<string, FilterSet>({ max: 200 });

/** The filters of some guardrails; where several have the same filter, the strictest action holds. */
export function compileFilters(applied: readonly AppliedGuardrail[]): FilterSet {
  const known = byList.get(applied);
  if (known !== undefined) return known;
  const key = JSON.stringify(
    applied.map(({ guardrail: { id, builtins, filters }, scope }) => [id, scope, builtins, filters]),
  );
  const filters = byContent.get(key) ?? new FilterSet(applied);
  byContent.set(key, filters);
  byList.set(applied, filters);
  return filters;
}

/** Compiles what the filters of some guardrails need, in slices; without it, `compileFilters` does so at once. */
export function* prepareFilters(applied: readonly AppliedGuardrail[]): Sliced<void> {
  if (byList.has(applied)) return;
  for (const { guardrail } of applied) {
    for (const { pattern } of guardrail.filters ?? []) {
      if (isCompiled(pattern)) continue;
      compiledPattern(pattern);
      yield;
    }
  }
}

function filtersFor(applied: readonly AppliedGuardrail[], kind: PlaceKind): ActiveFilter[] {
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
    for (const custom of guardrail.filters ?? [])
      add(`custom ${custom.pattern}`, customFilter(custom, owner));
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
  const { label, redaction, shape } = filter;
  const source = { name: slug, label, redaction, action, engine, kind: 'content-filter', ...owner } as const;
  return { source, matcher: { kind: 'shape', shape } };
}

function customFilter({ pattern, action, label }: CustomFilter, owner: Owner): ActiveFilter {
  const compilation = compiledPattern(pattern);
  // Patterns are checked before they are stored.
  if (typeof compilation === 'string') throw new Error(`a stored pattern ${compilation}`);
  const words = label === null ? NO_LABEL : { label, redaction: bracketed(label) };
  const matcher: FilterMatcher = { kind: 'pattern', pattern: compilation };
  const name = label ?? 'custom';
  return { source: { name, ...words, action, engine: 'regex', kind: 'content-filter', ...owner }, matcher };
}

function bracketed(label: string): string {
  return /^\[.*\]$/s.test(label) ? label : `[${label}]`;
}
