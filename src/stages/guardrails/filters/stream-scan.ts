import type { Search } from '../../../kit/pattern/all-matches.ts';
import { type BoundedSearch, CONTEXT_CHARACTERS } from './bounded-search.ts';
import {
  type Finding,
  type FindingSource,
  findingAt,
  replaced,
  replacementsOf,
  unfinishedAt,
} from './finding.ts';
import { NormalStream } from './normal-form.ts';
import type { PatternSearches } from './pattern-searches.ts';

export interface Released {
  /** Text that no filter can match any more, with redactions in place. Empty after a finding that blocks. */
  readonly release: string;
  /** New findings since the last piece, in order. */
  readonly findings: readonly Finding[];
}

/** A filter for personal data, with its search in one text. */
export interface ShapeSearch {
  readonly source: FindingSource;
  readonly search: BoundedSearch;
}

interface Progress {
  readonly hold: number;
  readonly settled: number;
}

/** Characters before the open end of a text that come with it: of the same word, line or cluster. */
const OPEN_CONTEXT_CHARACTERS = 64;

const NOTHING: Released = { release: '', findings: [] };
/** Unneeded characters that are kept until there are this many; then they are dropped together. */
const MAX_SPARE = 512;

/**
 * Scans a text that comes in pieces. Holds back what could still become part of a match, and nothing else: the text
 * that leaves is the one that `redacted` would make of the whole. Nothing leaves from the first blocked match on.
 */
export class StreamScan {
  readonly #shapes: readonly ShapeSearch[];
  /** Undefined = there are none, or they have spent their budget. */
  #patterns: PatternSearches | undefined;
  readonly #normal: NormalStream;
  /** The original from `#originalAt` on: what is held back, and what findings may still quote. */
  #original = '';
  #originalAt = 0;
  /** Everything before this position of the original has left. */
  #released = 0;
  /** Found, and not released yet. */
  #open: Finding[] = [];
  #isBlocked = false;

  constructor(shapes: readonly ShapeSearch[], patterns: PatternSearches | undefined) {
    this.#shapes = shapes;
    this.#patterns = patterns;
    this.#normal = new NormalStream(patterns === undefined);
  }

  get heldCharacters(): number {
    return this.#end - this.#released;
  }

  /** Position behind the last character received. */
  get #end(): number {
    return this.#originalAt + this.#original.length;
  }

  /**
   * The end of the text that more text could make part of a match, with some characters before it. `start`: where the
   * end begins; `from`: where the characters do. Undefined = there is none.
   */
  get openEnd(): { readonly text: string; readonly from: number; readonly start: number } | undefined {
    if (this.#isBlocked || (this.#shapes.length === 0 && this.#patterns === undefined)) return undefined;
    const normal = this.#normal;
    let start = normal.open?.start ?? this.#end;
    const hold = (search: Search | BoundedSearch) => {
      if (search.hold < normal.end) start = Math.min(start, normal.startOf(search.hold));
    };
    for (const { search } of this.#shapes) hold(search);
    if (this.#patterns?.unfinished === undefined) {
      for (const { search } of this.#patterns?.active ?? []) hold(search);
    }
    if (start >= this.#end) return undefined;
    const from = Math.max(this.#originalAt, start - OPEN_CONTEXT_CHARACTERS);
    return { text: this.#between(from, this.#end), from, start };
  }

  /** Replaces a span that was found beside this scan. It may lie before the end or after it, but has not left. */
  cover(finding: Finding): void {
    if (finding.action !== 'redact') return;
    const start = Math.max(finding.start, this.#released);
    if (start < finding.end) this.#open.push({ ...finding, start });
  }

  push(piece: string): Released {
    if (this.#isBlocked || piece === '') return NOTHING;
    this.#original += piece;
    const normal = this.#normal;
    normal.push(piece);
    const found: Finding[] = [];
    const candidates = normal.open?.candidates;
    let hold = normal.open !== undefined && candidates === undefined ? normal.end : Number.POSITIVE_INFINITY;
    /** Text that is only flagged is not held back. */
    const holdFor = ({ action }: FindingSource, progress: Progress) => {
      const isOpen = progress.hold < normal.end || candidates !== undefined;
      if (isOpen && action !== 'flag') hold = Math.min(hold, progress.hold);
    };
    const text = normal.withPlainDigits;
    for (const { source, search } of this.#shapes) {
      search.read(text, normal.base, normal.end);
      const progress = candidates === undefined ? search : search.expecting(candidates);
      holdFor(source, progress);
      this.#collect(source, search, progress.settled, found);
    }
    const patterns = this.#patterns;
    if (patterns !== undefined) {
      patterns.read(normal.text, normal.base, normal.end);
      for (const { filter, search } of patterns.active) {
        const progress = candidates === undefined ? search : patterns.expecting(search, candidates);
        if (progress === undefined) break;
        holdFor(filter.source, progress);
        this.#collect(filter.source, search, progress.settled, found);
      }
      if (candidates !== undefined) {
        for (const { source } of patterns.beginning(candidates)) {
          if (source.action !== 'flag') hold = Math.min(hold, normal.end);
        }
      }
      patterns.rest();
    }
    this.#giveUp(found);
    const until = hold === Number.POSITIVE_INFINITY ? this.#end : normal.startOf(hold);
    const released = this.#release(until, found);
    this.#forget();
    return released;
  }

  /** The text has ended: everything leaves. */
  end(): Released {
    if (this.#isBlocked) return NOTHING;
    const normal = this.#normal;
    normal.finish();
    const found: Finding[] = [];
    this.#patterns?.read(normal.text, normal.base, normal.end);
    this.#giveUp(found);
    const text = normal.withPlainDigits;
    for (const { source, search } of this.#shapes) {
      search.read(text, normal.base, normal.end);
      search.end();
      this.#collect(source, search, search.settled, found);
    }
    for (const { filter, search } of this.#patterns?.active ?? []) {
      search.end();
      this.#collect(filter.source, search, search.settled, found);
    }
    return this.#release(this.#end, found);
  }

  /** Drops the patterns if they have spent too much. */
  #giveUp(found: Finding[]): void {
    const unfinished = this.#patterns?.unfinished;
    if (unfinished === undefined) return;
    const sources = unfinished.map(({ source }) => source);
    found.push(unfinishedAt(sources, this.#released));
    this.#patterns = undefined;
  }

  #collect(source: FindingSource, search: Search | BoundedSearch, settled: number, found: Finding[]): void {
    // A match that may become longer is a match: there is no reason to wait before blocking.
    const count = source.action === 'block' ? search.matches.length : settled;
    if (count === 0) return;
    for (let at = 0; at < count; at += 2) {
      const start = this.#normal.startOf(search.matches[at] ?? 0);
      const end = this.#normal.endBefore(search.matches[at + 1] ?? 0);
      found.push(findingAt(source, start, end, this.#between(start, end)));
    }
    if (source.action !== 'block') search.forget(count);
  }

  /** Lets go of what is before a position of the original, unless a finding spans it. */
  #release(until: number, found: Finding[]): Released {
    if (found.length === 0 && this.#open.length === 0) {
      const from = this.#released;
      this.#released = Math.max(until, from);
      return until <= from ? NOTHING : { release: this.#between(from, until), findings: found };
    }
    found.sort((left, right) => left.start - right.start || right.end - left.end);
    for (const each of found) this.#open.push(each);
    let end = Math.max(until, this.#released);
    for (const { action, start } of found) {
      if (action !== 'block') continue;
      this.#isBlocked = true;
      end = Math.min(end, start);
    }
    const replacements = replacementsOf(this.#open);
    for (const { start, end: last } of replacements) if (start < end && last > end) end = start;
    const leaving = replacements.filter(({ end: last }) => last <= end);
    const release = replaced(this.#between(this.#released, end), this.#released, leaving);
    this.#released = end;
    if (this.#open.length > 0) this.#open = this.#open.filter(({ end: last }) => last > end);
    return { release, findings: found };
  }

  #between(start: number, end: number): string {
    return this.#original.slice(start - this.#originalAt, end - this.#originalAt);
  }

  /** Drops text that no search and no finding needs. */
  #forget(): void {
    const normal = this.#normal;
    let needed = normal.end;
    for (const { search } of this.#shapes) needed = Math.min(needed, search.hold);
    for (const { search } of this.#patterns?.active ?? []) needed = Math.min(needed, search.hold);
    const original = Math.min(this.#released, normal.startOf(needed));
    if (original - this.#originalAt > MAX_SPARE) {
      this.#original = this.#original.slice(original - this.#originalAt);
      this.#originalAt = original;
    }
    if (needed - CONTEXT_CHARACTERS - normal.base > MAX_SPARE) normal.drop(needed - CONTEXT_CHARACTERS);
  }
}
