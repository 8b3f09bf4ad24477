import type { Search } from '../../../kit/pattern/all-matches.ts';
import { AnyMatch } from '../../../kit/pattern/any-match.ts';
import { BoundedSearch, type DataShape } from './bounded-search.ts';
import type { CompiledPattern } from './check-pattern.ts';
import { type Finding, type FindingSource, findingAt } from './finding.ts';
import { findInjections } from './injection/find-injections.ts';
import { warmUp } from './injection/find-patterns.ts';
import { type NormalText, normalForm } from './normal-form.ts';
import { type PatternFilter, PatternSearches } from './pattern-searches.ts';
import { StreamScan } from './stream-scan.ts';

/** The matching of one filter. */
export type FilterMatcher =
  | { readonly kind: 'shape'; readonly shape: DataShape }
  | { readonly kind: 'pattern'; readonly pattern: CompiledPattern }
  | { readonly kind: 'injection' };

/** A filter, of the guardrail that demands most where several have it. */
export interface ActiveFilter {
  readonly source: FindingSource;
  readonly matcher: FilterMatcher;
}

/** Characters that are scanned between two chances to pause. */
const SLICE_CHARACTERS = 16_384;
/** Steps of an automaton that are made between two chances to pause: each takes some microseconds. */
const SLICE_STEPS = 200;
/** Values of lists of matches that are read between two chances to pause: start and end of each. */
const SLICE_MATCHES = 4096;

/** All filters for texts of one place. */
export class Scanner {
  readonly filters: readonly ActiveFilter[];
  readonly #patterns: readonly PatternFilter[];
  /** Made with the first text: says which patterns need to be searched for at all. */
  #madeAnyMatch: AnyMatch | undefined;

  constructor(filters: readonly ActiveFilter[]) {
    this.filters = filters;
    this.#patterns = filters.flatMap((filter) =>
      filter.matcher.kind === 'pattern' ? [{ source: filter.source, pattern: filter.matcher.pattern }] : [],
    );
  }

  get #anyMatch(): AnyMatch {
    this.#madeAnyMatch ??= new AnyMatch(this.#patterns.map(({ pattern }) => pattern.program));
    return this.#madeAnyMatch;
  }

  /** For a text that comes in pieces. Prompt injections are looked for in whole texts only. */
  stream(): StreamScan {
    const shapes = this.filters.flatMap(({ source, matcher }) =>
      matcher.kind === 'shape' ? [{ source, search: new BoundedSearch(matcher.shape) }] : [],
    );
    const patterns =
      this.#patterns.length === 0 ? undefined : new PatternSearches(this.#patterns, this.#anyMatch);
    return new StreamScan(shapes, patterns);
  }

  /** Scans a text in slices of a few milliseconds at most, and yields after each. */
  *scan(text: string): Generator<undefined, Finding[]> {
    if (this.filters.length === 0 || text === '') return [];
    const normal = normalForm(text);
    const findings: Finding[] = [];
    for (const { source, matcher } of this.filters) {
      if (matcher.kind === 'shape') {
        const search = new BoundedSearch(matcher.shape);
        yield* searchAll(search, normal.text);
        yield* addMatches(findings, text, normal, source, search.matches);
      } else if (matcher.kind === 'injection') {
        yield* scanForInjections(findings, text, normal, source);
      }
    }
    yield* this.#scanForPatterns(findings, text, normal);
    return findings.sort((left, right) => left.start - right.start || right.end - left.end);
  }

  *#scanForPatterns(findings: Finding[], text: string, normal: NormalText): Generator<undefined, void> {
    if (this.#patterns.length === 0) return;
    const run = this.#anyMatch.start();
    for (let at = 0; at < normal.text.length; ) {
      at = run.read(normal.text, at, sliceEnd(normal.text, at), SLICE_STEPS);
      yield;
    }
    run.end();
    for (let index = 0; index < this.#patterns.length; index++) {
      const filter = this.#patterns[index];
      if (filter === undefined || run.matched[index] !== 1) continue;
      const search = filter.pattern.machine.search();
      yield* searchAll(search, normal.text);
      yield* addMatches(findings, text, normal, filter.source, search.matches);
    }
  }
}

function* searchAll(search: Search | BoundedSearch, text: string): Generator<undefined, void> {
  for (let at = 0; at < text.length; ) {
    at = search.read(text, 0, sliceEnd(text, at), SLICE_STEPS);
    yield;
  }
  search.end();
}

function* scanForInjections(
  findings: Finding[],
  text: string,
  normal: NormalText,
  source: FindingSource,
): Generator<undefined, void> {
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
): Generator<undefined, void> {
  for (let at = 0; at + 1 < matches.length; at += 2) {
    const start = normal.startOf(matches[at] ?? 0);
    const end = normal.endBefore(matches[at + 1] ?? 0);
    findings.push(findingAt(source, start, end, text.slice(start, end)));
    if (at % SLICE_MATCHES === 0) yield;
  }
}
