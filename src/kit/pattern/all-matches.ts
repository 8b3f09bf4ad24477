import type { Sliced } from '../loop/turns.ts';
import { Alphabet } from './alphabet.ts';
import type { Program } from './program.ts';
import { assertsBetween, BEFORE, type Before, NOT_KNOWN, Threads, WORK } from './threads.ts';

/** Stands for a track that begins at the current character. */
const FRESH = -1;
/** Stands for a missing track: nothing matches. */
const NONE = -2;

/** Cached states of one pattern, and threads in them; the cache is cleared when it has more. */
const MAX_STATES = 1000;
const MAX_CACHED_THREADS = 50_000;
/** A search that needed so many new states among its first `TRIAL_CHARACTERS` keeps no more of them. */
const TRIAL_CHARACTERS = 2048;
const MAX_NEW_STATES_SHARE = 0.5;

/**
 * The threads that are in the middle of a match, in the order of their priority. Threads that began at the same
 * character are one track. Below all of them there is always one more, which looks for the next beginning.
 */
interface State {
  readonly pcs: readonly number[];
  /** Track of each thread; tracks are numbered in the order of their beginnings. */
  readonly tracks: readonly number[];
  readonly trackCount: number;
  readonly before: Before;
  /** Steps by the class of the next character. */
  readonly steps: (Step | undefined)[];
}

interface Step {
  readonly next: State;
  /** Tracks stay what they are, and nothing matches. */
  readonly isPlain: boolean;
  /** The track that matched before this character, or NONE. */
  readonly matchBefore: number;
  /** For each track of `next`, the one that it continues, or FRESH. */
  readonly sources: readonly number[];
  /** The track that matches with this character, or FRESH or NONE. */
  readonly matchAfter: number;
}

/**
 * Finds all matches of a pattern, from left to right, without overlap, the way `String.matchAll` finds them; empty
 * matches do not count. Time is proportional to the text: the pattern is matched as `(?:.*?(pattern))*` in one pass, so
 * that nothing is read twice. States of the automaton are made when they are needed first and shared by all searches.
 */
export class AllMatches {
  readonly alphabet: Alphabet;
  readonly initial: State;
  readonly #program: Program;
  /** For each set of the program, the classes of characters in it. */
  readonly #accepted: readonly Uint8Array[];
  readonly #states = new Map<string, State>();
  #cachedThreads = 0;
  readonly #symbols = new Map<number, readonly number[]>();
  /** Work of all searches so far, in units of `WORK`. */
  work = 0;
  readonly #now: Threads;
  readonly #next: Threads;

  private constructor(program: Program, alphabet: Alphabet, accepted: readonly Uint8Array[]) {
    this.#program = program;
    this.alphabet = alphabet;
    this.#accepted = accepted;
    this.#now = new Threads(program);
    this.#next = new Threads(program);
    this.initial = this.#kept([], [], 0, this.#before(BEFORE.nothing));
  }

  static *of(program: Program): Sliced<AllMatches> {
    const alphabet = yield* Alphabet.of([program]);
    return new AllMatches(program, alphabet, yield* alphabet.acceptedBy(program.sets));
  }

  /** `before`: what stands before the text. */
  search(at = 0, before: Before = BEFORE.nothing): Search {
    return new Search(this, at, this.idle(before));
  }

  /** The state in which nothing has begun. */
  idle(before: Before): State {
    return this.#kept([], [], 0, this.#before(before));
  }

  /** The classes of some characters, each once. Lists that begin with the same character must be the same. */
  symbolsOf(codes: readonly number[]): readonly number[] {
    const first = codes[0] ?? 0;
    let symbols = this.#symbols.get(first);
    if (symbols === undefined) {
      symbols = [...new Set(codes.map((code) => this.alphabet.classOf(code)))];
      this.#symbols.set(first, symbols);
    }
    return symbols;
  }

  /** True if none of these characters, read in a state without tracks, begins a match. */
  isInert(state: State, codes: readonly number[]): boolean {
    for (const symbol of this.symbolsOf(codes)) {
      const { next, matchAfter } = state.steps[symbol] ?? this.step(state, symbol, true);
      if (next.trackCount > 0 || matchAfter !== NONE) return false;
    }
    return true;
  }

  /** `isKept`: the step is cached for other searches. */
  step(state: State, symbol: number, isKept: boolean): Step {
    const isWord = this.alphabet.words[symbol] === 1;
    const matchBefore = this.#resolve(state, assertsBetween(state.before, isWord));
    this.#now.add(this.#program.start, FRESH, assertsBetween(state.before, isWord), true);
    const matchAfter = this.#read(symbol);
    const { pcs, tags } = this.#next;
    this.work += WORK.newStep + WORK.thread * (this.#now.pcs.length + pcs.length);
    const sources: number[] = [];
    const tracks = tags.map((tag) => {
      if (sources.length === 0 || sources[sources.length - 1] !== tag) sources.push(tag);
      return sources.length - 1;
    });
    const before = this.#before(isWord ? BEFORE.word : BEFORE.other);
    const next = isKept
      ? this.#kept(pcs, tracks, sources.length, before)
      : { pcs: pcs.slice(), tracks, trackCount: sources.length, before, steps: [] };
    const isPlain =
      matchBefore === NONE && matchAfter === NONE && sources.every((source, track) => source === track);
    const step = { next, isPlain, matchBefore, sources, matchAfter };
    if (isKept) state.steps[symbol] = step;
    return step;
  }

  /** The track that matches where the text ends, or NONE. */
  matchAtEnd(state: State): number {
    return this.#resolve(state, assertsBetween(state.before, undefined));
  }

  /** Settles the assertions of a state. Returns the track that matches. */
  #resolve({ pcs, tracks }: State, asserts: number): number {
    this.#now.clear();
    for (let thread = 0; thread < pcs.length; thread++) {
      const track = tracks[thread] ?? NONE;
      if (this.#now.add(pcs[thread] ?? 0, track, asserts)) return track;
    }
    return NONE;
  }

  /** Moves all threads over a character. Returns the track that matches; threads below it are of no use any more. */
  #read(symbol: number): number {
    const { pcs, tags } = this.#now;
    const { setOf } = this.#program;
    this.#next.clear();
    for (let thread = 0; thread < pcs.length; thread++) {
      const pc = pcs[thread] ?? 0;
      if (this.#accepted[setOf[pc] ?? 0]?.[symbol] !== 1) continue;
      const tag = tags[thread] ?? NONE;
      if (this.#next.add(this.#program.out[pc] ?? 0, tag, NOT_KNOWN)) return tag;
    }
    return NONE;
  }

  #kept(pcs: readonly number[], tracks: readonly number[], trackCount: number, before: Before): State {
    const key = `${before};${pcs.join()};${tracks.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#cachedThreads += pcs.length;
    if (this.#states.size >= MAX_STATES || this.#cachedThreads > MAX_CACHED_THREADS) {
      this.#states.clear();
      this.#cachedThreads = pcs.length;
      // Releases all states that are reached from it.
      this.initial.steps.length = 0;
    }
    const state = { pcs: pcs.slice(), tracks, trackCount, before, steps: [] };
    this.#states.set(key, state);
    return state;
  }

  /** Patterns without assertions do not depend on it: they need fewer states. */
  #before(before: Before): Before {
    return this.#program.hasAsserts ? before : BEFORE.other;
  }
}

/** Lower bounds of `hold` and `settled` of a search if one of several characters comes next. */
export interface ExpectedProgress {
  readonly hold: number;
  readonly settled: number;
}

const FREE: ExpectedProgress = { hold: Number.POSITIVE_INFINITY, settled: 0 };

/** A search in one text, which may come in pieces. Positions count from the beginning of the whole text. */
export class Search {
  /** Start and end of each match found, in turn. Those beyond `settled` may still become longer or vanish. */
  readonly matches: number[] = [];
  /** Work so far, in units of `WORK`. */
  work = 0;
  readonly #machine: AllMatches;
  #state: State;
  #at: number;
  /** For each track: where it began, and the length of `matches` at that time. */
  #starts: number[] = [];
  #lengths: number[] = [];
  #spareStarts: number[] = [];
  #spareLengths: number[] = [];
  #newStates = 0;
  #characters = 0;
  #isKept = true;

  constructor(machine: AllMatches, at: number, state: State) {
    this.#machine = machine;
    this.#at = at;
    this.#state = state;
  }

  /** The first position that a match may still contain which is not settled. */
  get hold(): number {
    return this.#state.trackCount === 0 ? this.#at : (this.#starts[0] ?? this.#at);
  }

  /** Number of values in `matches` that no later character changes. */
  get settled(): number {
    return this.#state.trackCount === 0 ? this.matches.length : (this.#lengths[0] ?? 0);
  }

  forget(count: number): void {
    this.matches.splice(0, count);
    for (let track = 0; track < this.#state.trackCount; track++) {
      this.#lengths[track] = (this.#lengths[track] ?? 0) - count;
    }
  }

  /**
   * Reads the characters from where it stands to `end`. `text` begins at position `base`. Stops early after `maxWork`,
   * but not before the first character. Returns where it stands.
   */
  read(text: string, base: number, end: number, maxWork = Number.POSITIVE_INFINITY): number {
    const machine = this.#machine;
    const { table } = machine.alphabet;
    const before = machine.work;
    const most = before + maxWork;
    const stop = end - base;
    const from = this.#at - base;
    let state = this.#state;
    let index = from;
    while (index < stop) {
      const code = text.charCodeAt(index);
      let width = 1;
      let symbol = table[code];
      if (symbol === undefined) {
        const point = text.codePointAt(index) ?? code;
        width = point > 0xffff ? 2 : 1;
        symbol = machine.alphabet.classOf(point);
      }
      let step = state.steps[symbol];
      if (step?.isPlain !== true) {
        if (machine.work >= most) break;
        step ??= this.#makeStep(state, symbol, base + index);
        if (!step.isPlain) {
          this.#follow(step, base + index, width);
          machine.work += WORK.step + WORK.track * step.sources.length;
        }
      }
      state = step.next;
      index += width;
    }
    machine.work += WORK.character * (index - from);
    this.work += machine.work - before;
    this.#state = state;
    this.#at = base + index;
    return this.#at;
  }

  /**
   * `hold` and `settled` as they would be at least if one of these characters came next, whichever it is; a hold of
   * Infinity is behind that character.
   */
  expecting(codes: readonly number[]): ExpectedProgress {
    const isFree = this.#state.trackCount === 0 && this.matches.length === 0;
    const before = this.#machine.work;
    const progress = isFree && this.#machine.isInert(this.#state, codes) ? FREE : this.#expecting(codes);
    this.work += this.#machine.work - before;
    return progress;
  }

  #expecting(codes: readonly number[]): ExpectedProgress {
    let hold = Number.POSITIVE_INFINITY;
    let settled = this.matches.length;
    for (const symbol of this.#machine.symbolsOf(codes)) {
      const step = this.#state.steps[symbol] ?? this.#machine.step(this.#state, symbol, this.#isKept);
      for (const track of [step.matchBefore, step.sources[0] ?? NONE, step.matchAfter]) {
        if (track === NONE) continue;
        hold = Math.min(hold, track === FRESH ? this.#at : (this.#starts[track] ?? this.#at));
        if (track !== FRESH) settled = Math.min(settled, this.#lengths[track] ?? 0);
      }
    }
    return { hold, settled };
  }

  /** The text ends here: all matches are settled. */
  end(): void {
    const track = this.#machine.matchAtEnd(this.#state);
    if (track >= 0) this.#match(track, this.#at, this.#at);
    this.#state = this.#machine.initial;
  }

  #makeStep(state: State, symbol: number, at: number): Step {
    this.#newStates++;
    if (this.#characters === 0) this.#characters = at;
    if (this.#newStates >= TRIAL_CHARACTERS * MAX_NEW_STATES_SHARE) {
      this.#isKept = at - this.#characters > TRIAL_CHARACTERS;
      this.#newStates = 0;
      this.#characters = at;
    }
    return this.#machine.step(state, symbol, this.#isKept);
  }

  #follow({ matchBefore, sources, matchAfter }: Step, at: number, width: number): void {
    if (matchBefore >= 0) this.#match(matchBefore, at, at);
    const found = this.matches.length;
    for (let track = 0; track < sources.length; track++) {
      const source = sources[track] ?? FRESH;
      this.#spareStarts[track] = source === FRESH ? at : (this.#starts[source] ?? at);
      this.#spareLengths[track] = source === FRESH ? found : (this.#lengths[source] ?? found);
    }
    if (matchAfter !== NONE) this.#match(matchAfter, at, at + width);
    [this.#starts, this.#spareStarts] = [this.#spareStarts, this.#starts];
    [this.#lengths, this.#spareLengths] = [this.#spareLengths, this.#lengths];
  }

  /** Replaces the matches that a lower priority had found since the track began. */
  #match(track: number, freshStart: number, end: number): void {
    if (track !== FRESH) this.matches.length = this.#lengths[track] ?? 0;
    this.matches.push(track === FRESH ? freshStart : (this.#starts[track] ?? freshStart), end);
  }
}
