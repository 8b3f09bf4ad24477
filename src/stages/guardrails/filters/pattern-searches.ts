import type { Search } from '../../../kit/pattern/all-matches.ts';
import type { AnyMatch, AnyMatchRun } from '../../../kit/pattern/any-match.ts';
import { BEFORE, type Before } from '../../../kit/pattern/threads.ts';
import type { CompiledPattern } from './check-pattern.ts';
import type { FindingSource } from './finding.ts';

/** A filter with a custom pattern. */
export interface PatternFilter {
  readonly source: FindingSource;
  readonly pattern: CompiledPattern;
}

/** The search for a pattern that may match, or has. */
export interface ActiveSearch {
  /** Place of the filter in the list. */
  readonly index: number;
  readonly filter: PatternFilter;
  readonly search: Search;
}

const WORD = /\w/;

/**
 * Searches for many patterns in a text that comes in pieces. One automaton reads every character; a pattern has a
 * search of its own only from the piece in which it begins until it can no longer match.
 */
export class PatternSearches {
  /** Those that may match, or have: in no order. */
  active: ActiveSearch[] = [];
  readonly #filters: readonly PatternFilter[];
  readonly #run: AnyMatchRun;
  /** For each pattern: 1 = it has a search. */
  readonly #isActive: Uint8Array;
  #at = 0;

  constructor(filters: readonly PatternFilter[], anyMatch: AnyMatch) {
    this.#filters = filters;
    this.#run = anyMatch.start();
    this.#isActive = new Uint8Array(filters.length);
  }

  /** Reads on to `end`. `text` begins at position `base`, before what was read last. */
  read(text: string, base: number, end: number): void {
    const run = this.#run;
    const from = this.#at;
    run.read(text, from - base, end - base);
    this.#at = end;
    if (run.isGivenUp)
      for (let index = 0; index < this.#filters.length; index++) this.#begin(index, from, text, base);
    for (const index of run.live) this.#begin(index, from, text, base);
    if (run.hasMatched) {
      run.matched.forEach((matches, index) => {
        if (matches === 1) this.#begin(index, from, text, base);
      });
      run.matched.fill(0);
      run.hasMatched = false;
    }
    for (const { search } of this.active) search.read(text, base, end);
  }

  /** Filters without a search that one of these characters, read next, would begin or end. */
  *beginning(codes: readonly number[]): Generator<PatternFilter> {
    for (const index of this.#run.expecting(codes)) {
      const filter = this.#filters[index];
      if (filter !== undefined && this.#isActive[index] === 0) yield filter;
    }
  }

  /** Ends the searches of patterns that are not begun, and whose matches were taken. */
  rest(): void {
    if (this.active.length === 0 || this.#run.isGivenUp) return;
    this.active = this.active.filter(({ index, search }) => {
      const isOver = search.hold === this.#at && search.matches.length === 0;
      if (isOver) this.#isActive[index] = 0;
      return !isOver;
    });
  }

  #begin(index: number, at: number, text: string, base: number): void {
    const filter = this.#filters[index];
    if (filter === undefined || this.#isActive[index] === 1) return;
    this.#isActive[index] = 1;
    const before = at === 0 ? BEFORE.nothing : beforeOf(text[at - base - 1]);
    this.active.push({ index, filter, search: filter.pattern.machine.search(at, before) });
  }
}

function beforeOf(character: string | undefined): Before {
  return character !== undefined && WORD.test(character) ? BEFORE.word : BEFORE.other;
}
