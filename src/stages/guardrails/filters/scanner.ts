import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Sliced } from '../../../kit/loop/turns.ts';
import type { Search } from '../../../kit/pattern/all-matches.ts';
import type { AnyMatch } from '../../../kit/pattern/any-match.ts';
import { SLICE_WORK } from '../../../kit/pattern/threads.ts';
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
const PIECE_WORK = 1_000_000;
const BUILTIN_WORK = 50;
const MIN_PIECE_CHARACTERS = 16;

/** Texts that are remembered as harmless, of each kind: many short ones do not displace the long ones. */
const MAX_REMEMBERED = 2000;
const MIN_LONG_CHARACTERS = 256;

/** All filters for texts of one place. */
export class Scanner {
  readonly filters: readonly ActiveFilter[];
  readonly #patterns: readonly PatternFilter[];
  /** Says which patterns need to be searched for at all; undefined = there are none. */
  readonly #anyMatch: AnyMatch | undefined;
  /** Characters of a text in pieces that are scanned in some milliseconds at most. */
  readonly sliceCharacters: number;
  /** Digests of texts in which nothing was found: instructions, tools and conversations are sent again and again. */
  readonly #harmless = {
    long: new LRUCache<string, true>({ max: MAX_REMEMBERED }),
    short: new LRUCache<string, true>({ max: MAX_REMEMBERED }),
  };

  /** `anyMatch`: of the patterns among the filters, in their order. */
  constructor(filters: readonly ActiveFilter[], anyMatch: AnyMatch | undefined) {
    this.filters = filters;
    this.#anyMatch = anyMatch;
    this.#patterns = filters.flatMap((filter) =>
      filter.matcher.kind === 'pattern' ? [{ source: filter.source, pattern: filter.matcher.pattern }] : [],
    );
    const work = this.#patterns.reduce((sum, { pattern }) => sum + pattern.program.ops.length, 0);
    this.sliceCharacters = Math.max(
      MIN_PIECE_CHARACTERS,
      Math.floor(PIECE_WORK / (work + BUILTIN_WORK * filters.length + 1)),
    );
  }

  /** For a text that comes in pieces. Prompt injections are looked for in whole texts only. */
  stream(): StreamScan {
    const shapes = this.filters.flatMap(({ source, matcher }) =>
      matcher.kind === 'shapes'
        ? matcher.shapes.map((shape) => ({ source, search: new BoundedSearch(shape) }))
        : [],
    );
    const patterns = this.#anyMatch && new PatternSearches(this.#patterns, this.#anyMatch);
    return new StreamScan(shapes, patterns);
  }

  /** Scans a text in slices of a few milliseconds at most, and yields after each. */
  *scan(text: string): Sliced<Finding[]> {
    if (this.filters.length === 0 || text === '') return [];
    const harmless = this.#harmless[text.length < MIN_LONG_CHARACTERS ? 'short' : 'long'];
    const digest = hash('sha256', Buffer.from(text, 'utf16le'), 'base64');
    if (harmless.get(digest) === true) return [];
    const findings = yield* this.#scanNew(text);
    if (findings.length === 0) harmless.set(digest, true);
    return findings;
  }

  *#scanNew(text: string): Sliced<Finding[]> {
    const normal = yield* normalForm(text);
    const { withPlainDigits } = normal;
    const findings: Finding[] = [];
    for (const { source, matcher } of this.filters) {
      if (matcher.kind === 'shapes') {
        for (const shape of matcher.shapes) {
          const search = new BoundedSearch(shape);
          yield* searchAll(search, withPlainDigits);
          yield* addMatches(findings, text, normal, source, search.matches);
        }
      } else if (matcher.kind === 'injection') {
        yield* scanForInjections(findings, text, normal, source);
      }
    }
    yield* this.#scanForPatterns(findings, text, normal);
    return findings.sort((left, right) => left.start - right.start || right.end - left.end);
  }

  *#scanForPatterns(findings: Finding[], text: string, normal: NormalText): Sliced<void> {
    const run = this.#anyMatch?.start();
    if (run === undefined) return;
    for (let at = 0; at < normal.text.length; ) {
      at = run.read(normal.text, at, sliceEnd(normal.text, at), SLICE_WORK);
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

function* searchAll(search: Search | BoundedSearch, text: string): Sliced<void> {
  for (let at = 0; at < text.length; ) {
    at = search.read(text, 0, sliceEnd(text, at), SLICE_WORK);
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
