import { hash } from 'node:crypto';
import { RecentMap } from '../../../kit/collections/recent-map.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import type { AnyMatch } from '../../../kit/pattern/any-match.ts';
import { SLICE_WORK, WORK } from '../../../kit/pattern/threads.ts';
import { FILTER_ACTIONS } from '../../../ports/tenancy/guardrails.ts';
import { BoundedSearch, type DataShape } from './bounded-search.ts';
import type { CompiledPattern } from './check-pattern.ts';
import { type Finding, type FindingSource, findingAt, unfinishedAt } from './finding.ts';
import { findInjections } from './injection/find-injections.ts';
import { warmUp } from './injection/find-patterns.ts';
import { type NormalText, normalForm } from './normal-form.ts';
import { type PatternFilter, PatternSearches } from './pattern-searches.ts';
import type { ScanBudget } from './scan-budget.ts';
import { StreamScan } from './stream-scan.ts';

export type FilterMatcher =
  | { readonly kind: 'shapes'; readonly shapes: readonly DataShape[] }
  | { readonly kind: 'pattern'; readonly pattern: CompiledPattern }
  | { readonly kind: 'injection' };

/** A filter, of the guardrail that demands most where several have it. */
export interface ActiveFilter {
  readonly source: FindingSource;
  readonly matcher: FilterMatcher;
}

/** Characters that are scanned between two chances to pause. */
const SLICE_CHARACTERS = 16_384;
/** Values of lists of matches that are read between two chances to pause: start and end of each. */
const SLICE_MATCHES = 4096;

/** Work on a piece of a text at worst: each instruction of a pattern may be visited for each character. */
const PIECE_WORK = 10_000_000;
const BUILTIN_WORK = 50;
const MIN_PIECE_CHARACTERS = 16;
/** Work on a match, which is noted with its place and text. */
const MATCH_WORK = 40;

/** Texts that are remembered as harmless, of each kind: many short ones do not displace the long ones. */
const MAX_REMEMBERED = 2000;
const MIN_LONG_CHARACTERS = 256;

/** All filters for texts of one place. */
export class Scanner {
  readonly filters: readonly ActiveFilter[];
  readonly #patterns: readonly PatternFilter[];
  /** Places of the patterns, the strictest first: those that only flag do not spend the budget of the others. */
  readonly #strictestFirst: readonly number[];
  /** Says which patterns need to be searched for at all; undefined = there are none. */
  readonly #anyMatch: AnyMatch | undefined;
  /** Characters of a text in pieces that are scanned in some milliseconds at most. */
  readonly sliceCharacters: number;
  /** Digests of texts in which nothing was found: instructions, tools and conversations are sent again and again. */
  readonly #harmless = {
    long: new RecentMap<string, true>(MAX_REMEMBERED),
    short: new RecentMap<string, true>(MAX_REMEMBERED),
  };

  /** `anyMatch`: of the patterns among the filters, in their order. */
  constructor(filters: readonly ActiveFilter[], anyMatch: AnyMatch | undefined) {
    this.filters = filters;
    this.#anyMatch = anyMatch;
    this.#patterns = filters.flatMap((filter) =>
      filter.matcher.kind === 'pattern' ? [{ source: filter.source, pattern: filter.matcher.pattern }] : [],
    );
    this.#strictestFirst = FILTER_ACTIONS.flatMap((action) =>
      [...this.#patterns.keys()].filter((index) => this.#patterns[index]?.source.action === action),
    );
    const instructions = this.#patterns.reduce((sum, { pattern }) => sum + pattern.program.ops.length, 0);
    const work = WORK.thread * (instructions + BUILTIN_WORK * filters.length + 1);
    this.sliceCharacters = Math.max(MIN_PIECE_CHARACTERS, Math.floor(PIECE_WORK / work));
  }

  stream(budget: ScanBudget): StreamScan {
    const shapes = this.filters.flatMap(({ source, matcher }) =>
      matcher.kind === 'shapes'
        ? matcher.shapes.map((shape) => ({ source, search: new BoundedSearch(shape) }))
        : [],
    );
    const patterns = this.#anyMatch && new PatternSearches(this.#patterns, this.#anyMatch, budget);
    return new StreamScan(shapes, patterns);
  }

  /** Scans a text in slices of a few milliseconds at most, and yields after each. */
  *scan(text: string, budget: ScanBudget): Sliced<Finding[]> {
    if (this.filters.length === 0 || text === '') return [];
    const harmless = this.#harmless[text.length < MIN_LONG_CHARACTERS ? 'short' : 'long'];
    const digest = hash('sha256', Buffer.from(text, 'utf16le'), 'base64');
    if (harmless.get(digest) === true) return [];
    const findings = yield* this.#scanNew(text, budget);
    if (findings.length === 0) harmless.set(digest, true);
    return findings;
  }

  *#scanNew(text: string, budget: ScanBudget): Sliced<Finding[]> {
    const normal = yield* normalForm(text, this.#patterns.length === 0);
    const { withPlainDigits } = normal;
    const findings: Finding[] = [];
    for (const { source, matcher } of this.filters) {
      if (matcher.kind === 'shapes') {
        for (const shape of matcher.shapes) {
          const search = new BoundedSearch(shape);
          yield* searchForData(search, withPlainDigits);
          yield* addMatches(findings, text, normal, source, search.matches);
        }
      } else if (matcher.kind === 'injection') {
        yield* scanForInjections(findings, text, normal, source);
      }
    }
    yield* this.#scanForPatterns(findings, text, normal, budget);
    return findings.sort((left, right) => left.start - right.start || right.end - left.end);
  }

  *#scanForPatterns(findings: Finding[], text: string, normal: NormalText, budget: ScanBudget): Sliced<void> {
    const run = this.#anyMatch?.start();
    if (run === undefined) return;
    const readRun = (from: number, to: number) => run.read(normal.text, from, to, SLICE_WORK);
    yield* readAll(normal.text, budget, run, readRun);
    const isRead = !budget.isSpent;
    run.end();
    const unfinished: FindingSource[] = [];
    for (const index of this.#strictestFirst) {
      const filter = this.#patterns[index];
      if (filter === undefined || (isRead && run.matched[index] !== 1)) continue;
      const search = filter.pattern.machine.search();
      const read = (_: number, to: number) => search.read(normal.text, 0, to, SLICE_WORK);
      yield* readAll(normal.text, budget, search, read);
      if (budget.isSpent) {
        unfinished.push(filter.source);
        continue;
      }
      search.end();
      budget.spent += MATCH_WORK * search.matches.length;
      yield* addMatches(findings, text, normal, filter.source, search.matches);
    }
    if (unfinished.length > 0) findings.push(unfinishedAt(unfinished, 0));
  }
}

/** Reads a text to its end, or until the budget is spent. */
function* readAll(
  text: string,
  budget: ScanBudget,
  reader: { readonly work: number },
  read: (from: number, to: number) => number,
): Sliced<void> {
  for (let at = 0; at < text.length && !budget.isSpent; ) {
    const before = reader.work;
    at = read(at, sliceEnd(text, at));
    budget.spent += reader.work - before;
    yield;
  }
}

function* searchForData(search: BoundedSearch, text: string): Sliced<void> {
  for (let at = 0; at < text.length; ) {
    at = search.read(text, 0, sliceEnd(text, at));
    yield;
  }
  search.end();
}

function* scanForInjections(
  findings: Finding[],
  text: string,
  normal: NormalText,
  source: FindingSource,
): Sliced<void> {
  yield* warmUp();
  for (let at = 0; at < normal.text.length; at = sliceEnd(normal.text, at)) {
    for (const { start, end, name } of findInjections(normal.text, at, sliceEnd(normal.text, at))) {
      yield* addMatches(findings, text, normal, { ...source, name }, [start, end]);
    }
    yield;
  }
}

/** Divides no character. */
function sliceEnd(text: string, from: number): number {
  const end = Math.min(text.length, from + SLICE_CHARACTERS);
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

function* addMatches(
  findings: Finding[],
  text: string,
  normal: NormalText,
  source: FindingSource,
  matches: readonly number[],
): Sliced<void> {
  for (let at = 0; at + 1 < matches.length; at += 2) {
    const start = normal.startOf(matches[at] ?? 0);
    const end = normal.endBefore(matches[at + 1] ?? 0);
    findings.push(findingAt(source, start, end, text.slice(start, end)));
    if (at % SLICE_MATCHES === 0) yield;
  }
}
