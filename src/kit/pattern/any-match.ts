import type { Sliced } from '../loop/turns.ts';
import { Alphabet } from './alphabet.ts';
import { type CodeRanges, OP, type Program } from './program.ts';
import { assertsBetween, BEFORE, type Before, NOT_KNOWN, Threads, WORK } from './threads.ts';

/** Cached states, and threads in them; the cache is cleared when it has more. */
const MAX_STATES = 4000;
const MAX_CACHED_THREADS = 400_000;
/** Work on new automaton steps per text before the search gives up, in units of `WORK`. */
const MAX_NEW_WORK = 24_000_000;
/** Threads at one character with which a text is given up at once: every new step would be long. */
const MAX_LIVE_THREADS = 5000;

interface State {
  readonly pcs: readonly number[];
  /** Patterns that match with the character that led here; undefined = none. */
  readonly matched: readonly number[] | undefined;
  /** Patterns that are in the middle of a match. */
  readonly live: readonly number[];
  readonly before: Before;
  /** States by the class of the next character. */
  readonly next: (State | undefined)[];
  /** Patterns that one of some characters would begin, continue or end, by the first of these characters. */
  readonly expected: Map<number, readonly number[]>;
}

const NONE: readonly number[] = [];

/** Says in one pass over a text which of many patterns match anywhere in it. */
export class AnyMatch {
  readonly #program: Program;
  /** For each instruction its pattern. */
  readonly #patternOf: Uint16Array;
  readonly #patternCount: number;
  readonly #starts: readonly number[];
  readonly #alphabet: Alphabet;
  /** For each set of the program, the classes of characters in it. */
  readonly #accepted: readonly Uint8Array[];
  readonly #states = new Map<string, State>();
  #cachedThreads = 0;
  readonly #now: Threads;
  readonly #next: Threads;
  #initial: State;
  /** Work on new steps so far, in units of `WORK`. */
  work = 0;

  private constructor(
    { program, starts, patternOf }: JoinedProgram,
    alphabet: Alphabet,
    accepted: readonly Uint8Array[],
  ) {
    this.#program = program;
    this.#patternCount = starts.length;
    this.#patternOf = patternOf;
    this.#starts = starts;
    this.#alphabet = alphabet;
    this.#accepted = accepted;
    this.#now = new Threads(program);
    this.#next = new Threads(program);
    this.#initial = this.#kept([], undefined, BEFORE.nothing);
  }

  static *of(programs: readonly Program[]): Sliced<AnyMatch> {
    const alphabet = yield* Alphabet.of(programs);
    const program = yield* joined(programs);
    return new AnyMatch(program, alphabet, yield* alphabet.acceptedBy(program.program.sets));
  }

  start(): AnyMatchRun {
    return new AnyMatchRun(this, this.#alphabet, this.#initial, this.#patternCount);
  }

  /** The state after a character; its patterns are those that match before or with it. */
  step(state: State, symbol: number): State {
    const isWord = this.#alphabet.words[symbol] === 1;
    const asserts = assertsBetween(state.before, isWord);
    const matched = new Set<number>();
    this.#resolve(state, asserts, matched);
    for (const start of this.#starts) this.#now.add(start, 0, asserts, true);
    this.#next.clear();
    const { setOf } = this.#program;
    for (const pc of this.#now.pcs) {
      if (this.#accepted[setOf[pc] ?? 0]?.[symbol] !== 1) continue;
      this.#addAll(this.#next, this.#program.out[pc] ?? 0, NOT_KNOWN, matched);
    }
    this.work += WORK.newStep + WORK.thread * (this.#now.pcs.length + this.#next.pcs.length);
    const next = this.#kept(
      this.#next.pcs.slice().sort((left, right) => left - right),
      matched.size === 0 ? undefined : [...matched].sort((left, right) => left - right),
      isWord ? BEFORE.word : BEFORE.other,
    );
    if (next.pcs.length <= MAX_LIVE_THREADS) state.next[symbol] = next;
    return next;
  }

  /**
   * Patterns that one of these characters, read next, would begin, continue or end. Lists that begin with the same
   * character must be the same.
   */
  expecting(state: State, codes: readonly number[]): readonly number[] {
    const first = codes[0] ?? 0;
    const known = state.expected.get(first);
    if (known !== undefined) return known;
    const found = new Set<number>();
    for (const symbol of new Set(codes.map((code) => this.#alphabet.classOf(code)))) {
      const { live, matched = NONE } = state.next[symbol] ?? this.step(state, symbol);
      for (const pattern of live) found.add(pattern);
      for (const pattern of matched) found.add(pattern);
    }
    const expected = found.size === 0 ? NONE : [...found];
    state.expected.set(first, expected);
    return expected;
  }

  /** The patterns that match where the text ends. */
  matchedAtEnd(state: State): ReadonlySet<number> {
    const matched = new Set<number>();
    this.#resolve(state, assertsBetween(state.before, undefined), matched);
    return matched;
  }

  #resolve({ pcs }: State, asserts: number, matched: Set<number>): void {
    this.#now.clear();
    for (const pc of pcs) this.#addAll(this.#now, pc, asserts, matched);
  }

  /** Each pattern matches on its own: one match does not end what is reached beside it. */
  #addAll(threads: Threads, from: number, asserts: number, matched: Set<number>): void {
    if (!threads.add(from, 0, asserts)) return;
    do {
      matched.add(this.#patternOf[threads.matchedPc] ?? 0);
    } while (threads.addRest(0, asserts));
  }

  #kept(pcs: readonly number[], matched: readonly number[] | undefined, before: Before): State {
    const seen = this.#program.hasAsserts ? before : BEFORE.other;
    const key = `${seen};${pcs.join()};${matched?.join() ?? ''}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#cachedThreads += pcs.length;
    if (this.#states.size >= MAX_STATES || this.#cachedThreads > MAX_CACHED_THREADS) {
      this.#states.clear();
      this.#cachedThreads = pcs.length;
      this.#initial = { ...this.#initial, next: [], expected: new Map() };
    }
    const live = [...new Set(pcs.map((pc) => this.#patternOf[pc] ?? 0))];
    const state = { pcs, matched, live, before: seen, next: [], expected: new Map() };
    this.#states.set(key, state);
    return state;
  }
}

export class AnyMatchRun {
  /** For each pattern: 1 = it matches, or may match if the text was given up. */
  readonly matched: Uint8Array;
  /** Whether any pattern matches; may be reset together with `matched`. */
  hasMatched = false;
  /** Work so far, in units of `WORK`. */
  work = 0;
  readonly #machine: AnyMatch;
  readonly #alphabet: Alphabet;
  #state: State;
  #newWork = 0;

  constructor(machine: AnyMatch, alphabet: Alphabet, state: State, patternCount: number) {
    this.#machine = machine;
    this.#alphabet = alphabet;
    this.#state = state;
    this.matched = new Uint8Array(patternCount);
  }

  /** Stops early after `maxWork`, but not before the first character. Returns where it stands. */
  read(text: string, from: number, to: number, maxWork = Number.POSITIVE_INFINITY): number {
    if (this.isGivenUp) return to;
    const { table } = this.#alphabet;
    const machine = this.#machine;
    const before = machine.work;
    const most = before + Math.min(MAX_NEW_WORK - this.#newWork, maxWork);
    const mostNoted = maxWork / WORK.track;
    let noted = 0;
    let state = this.#state;
    let index = from;
    while (index < to) {
      let width = 1;
      let symbol = table[text.charCodeAt(index)];
      if (symbol === undefined) {
        const point = text.codePointAt(index) ?? 0;
        if (point > 0xffff) width = 2;
        symbol = this.#alphabet.classOf(point);
      }
      let next = state.next[symbol];
      if (next === undefined) {
        if (machine.work >= most) break;
        next = machine.step(state, symbol);
        if (next.pcs.length > MAX_LIVE_THREADS) {
          this.#newWork = MAX_NEW_WORK;
          break;
        }
      }
      state = next;
      index += width;
      if (state.matched !== undefined) {
        for (const pattern of state.matched) this.matched[pattern] = 1;
        this.hasMatched = true;
        noted += state.matched.length;
        if (noted >= mostNoted) break;
      }
    }
    this.#state = state;
    this.#newWork += machine.work - before;
    this.work += machine.work - before + WORK.track * noted + WORK.character * (index - from);
    return index;
  }

  get live(): readonly number[] {
    return this.#state.live;
  }

  /** True after `MAX_NEW_WORK` or with `MAX_LIVE_THREADS`: reading on costs too much, and any pattern may match. */
  get isGivenUp(): boolean {
    return this.#newWork >= MAX_NEW_WORK;
  }

  expecting(codes: readonly number[]): readonly number[] {
    const before = this.#machine.work;
    const expected = this.#machine.expecting(this.#state, codes);
    this.work += this.#machine.work - before;
    return expected;
  }

  end(): void {
    for (const pattern of this.#machine.matchedAtEnd(this.#state)) this.matched[pattern] = 1;
    if (this.isGivenUp) this.matched.fill(1);
  }
}

interface JoinedProgram {
  readonly program: Program;
  readonly starts: readonly number[];
  /** For each instruction its pattern. */
  readonly patternOf: Uint16Array;
}

function* joined(programs: readonly Program[]): Sliced<JoinedProgram> {
  const length = programs.reduce((sum, { ops }) => sum + ops.length, 0);
  const starts: number[] = [];
  const patternOf = new Uint16Array(length);
  const ops = new Uint8Array(length);
  const out = new Int32Array(length);
  const arg = new Int32Array(length);
  const setOf = new Uint32Array(length);
  const sets: CodeRanges[] = [];
  const places = new Map<string, number>();
  let offset = 0;
  for (const [pattern, program] of programs.entries()) {
    const setPlaces = program.sets.map((set) => {
      const key = set.join();
      const place = places.get(key) ?? sets.push(set) - 1;
      places.set(key, place);
      return place;
    });
    starts.push(program.start + offset);
    ops.set(program.ops, offset);
    patternOf.fill(pattern, offset, offset + program.ops.length);
    for (let pc = 0; pc < program.ops.length; pc++) {
      out[offset + pc] = (program.out[pc] ?? 0) + offset;
      arg[offset + pc] = (program.arg[pc] ?? 0) + (program.ops[pc] === OP.split ? offset : 0);
      setOf[offset + pc] = setPlaces[program.setOf[pc] ?? 0] ?? 0;
    }
    offset += program.ops.length;
    yield;
  }
  const hasAsserts = programs.some((program) => program.hasAsserts);
  return { program: { start: 0, ops, out, arg, sets, setOf, hasAsserts }, starts, patternOf };
}
