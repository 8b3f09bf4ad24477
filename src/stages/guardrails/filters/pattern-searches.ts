import type { ExpectedProgress, Search } from '../../../kit/pattern/all-matches.ts';
import type { AnyMatch, AnyMatchRun } from '../../../kit/pattern/any-match.ts';
import { BEFORE, type Before } from '../../../kit/pattern/threads.ts';
import type { CompiledPattern } from './check-pattern.ts';
import type { FindingSource } from './finding.ts';
import type { ScanBudget } from './scan-budget.ts';

export interface PatternFilter {
  readonly source: FindingSource;
  readonly pattern: CompiledPattern;
}

/** The search for a pattern that may match, or has. */
export interface ActiveSearch {
  readonly index: number;
  readonly filter: PatternFilter;
  readonly search: Search;
}

const WORD = /\w/;
/** Work on beginning to read a piece, besides its characters. */
const READ_WORK = 20;
/**
 * Most work of all searches on one piece, which is not divided: some twenty milliseconds. Pieces are so short that only
 * patterns which `checkingPatterns` refuses reach it.
 */
const MAX_PIECE_WORK = 2_000_000;

/**
 * Searches for many patterns in a text that comes in pieces. One automaton reads every character; a pattern has a
 * search of its own only from the piece in which it begins until it can no longer match.
 */
export class PatternSearches {
  /** Searches of patterns that may match, or have: in no order. */
  active: ActiveSearch[] = [];
  readonly #filters: readonly PatternFilter[];
  readonly #run: AnyMatchRun;
  /** For each pattern: 1 = it has a search. */
  readonly #isActive: Uint8Array;
  readonly #budget: ScanBudget;
  /** What was spent before the searches read the current piece. */
  #pieceStart = 0;
  #at = 0;

  constructor(filters: readonly PatternFilter[], anyMatch: AnyMatch, budget: ScanBudget) {
    this.#filters = filters;
    this.#budget = budget;
    this.#run = anyMatch.start();
    this.#isActive = new Uint8Array(filters.length);
  }

  /** The filters if they could not read all of the text within their budget; else undefined. */
  get unfinished(): readonly PatternFilter[] | undefined {
    return this.#isSpent ? this.#filters : undefined;
  }

  /** Reads on to `end`, or until too much is spent. `text` begins at position `base`, before what was read last. */
  read(text: string, base: number, end: number): void {
    const run = this.#run;
    const from = this.#at;
    this.#charged(run, () => run.read(text, from - base, end - base));
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
    this.#pieceStart = this.#budget.spent;
    for (const { search } of this.active) {
      if (this.#isSpent) return;
      this.#charged(search, () => search.read(text, base, end));
    }
  }

  /** What a search expects if one of these characters, read next, comes; undefined = too much is spent. */
  expecting(search: Search, codes: readonly number[]): ExpectedProgress | undefined {
    return this.#isSpent ? undefined : this.#charged(search, () => search.expecting(codes));
  }

  get #isSpent(): boolean {
    return this.#budget.isSpent || this.#budget.spent - this.#pieceStart > MAX_PIECE_WORK;
  }

  #charged<T>(reader: { readonly work: number }, read: () => T): T {
    const before = reader.work;
    const result = read();
    this.#budget.spent += READ_WORK + reader.work - before;
    return result;
  }

  /** Filters without a search that one of these characters, read next, would begin or end. */
  *beginning(codes: readonly number[]): Generator<PatternFilter> {
    for (const index of this.#charged(this.#run, () => this.#run.expecting(codes))) {
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
