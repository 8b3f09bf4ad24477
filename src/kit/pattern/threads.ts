import { ASSERTS, OP, type Program } from './program.ts';

/** The character before a position: none, part of a word, or another one. */
export const BEFORE = { other: 0, word: 1, nothing: 2 } as const;

export type Before = (typeof BEFORE)[keyof typeof BEFORE];

/** Instead of the bits that hold at a position: the character after it is not known yet. */
export const NOT_KNOWN = -1;

/**
 * What an automaton does, in units of work of about ten nanoseconds. They are counted, not timed, so that limits of
 * work do not depend on the machine.
 */
export const WORK = {
  /** A new step, besides its threads. */
  newStep: 360,
  /** A thread that a new step reads or makes. */
  thread: 12,
  /** A known step that moves tracks or matches, besides its tracks. */
  step: 4,
  track: 1,
  character: 1,
} as const;

/** Work between two chances to pause: a millisecond or so. */
export const SLICE_WORK = 100_000;

/** The assertions that hold between two characters, as bits. `isWord`: of the next one; undefined = the text ends. */
export function assertsBetween(before: Before, isWord: boolean | undefined): number {
  const isBoundary = (before === BEFORE.word) !== (isWord === true);
  return (
    (before === BEFORE.nothing ? ASSERTS.beginText : 0) |
    (isWord === undefined ? ASSERTS.endText : 0) |
    (isBoundary ? ASSERTS.wordBoundary : ASSERTS.noWordBoundary)
  );
}

/**
 * Threads of an automaton at one position, in the order of their priority. A thread is an instruction that reads a
 * character, or an assertion that waits for the next one. Each instruction stands in the list at most once.
 */
export class Threads {
  readonly pcs: number[] = [];
  /** For each thread the value that it was added with. */
  readonly tags: number[] = [];
  /** The instruction that ended the last `add`. */
  matchedPc = -1;
  readonly #program: Program;
  /** Instructions are in the list if their mark is that of this round. */
  readonly #marks: Uint32Array;
  #round = 0;
  readonly #stack: number[] = [];

  constructor(program: Program) {
    this.#program = program;
    this.#marks = new Uint32Array(program.ops.length);
  }

  clear(): void {
    this.pcs.length = 0;
    this.tags.length = 0;
    if (++this.#round === 0xffffffff) {
      this.#marks.fill(0);
      this.#round = 1;
    }
  }

  /**
   * Adds what can be reached from an instruction without reading a character. `asserts`: bits, or NOT_KNOWN. Returns
   * true at once if a match is among it, unless `ignoresMatch`.
   */
  add(from: number, tag: number, asserts: number, ignoresMatch = false): boolean {
    this.#stack.length = 0;
    this.#stack.push(from);
    return this.addRest(tag, asserts, ignoresMatch);
  }

  /** Goes on after an `add` that a match has ended. */
  addRest(tag: number, asserts: number, ignoresMatch = false): boolean {
    const { ops, out, arg } = this.#program;
    const stack = this.#stack;
    const marks = this.#marks;
    const round = this.#round;
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (marks[pc] === round) continue;
      marks[pc] = round;
      switch (ops[pc]) {
        case OP.jump:
          stack.push(out[pc] ?? 0);
          break;
        case OP.split:
          stack.push(arg[pc] ?? 0, out[pc] ?? 0);
          break;
        case OP.assert:
          if (asserts === NOT_KNOWN) {
            this.pcs.push(pc);
            this.tags.push(tag);
          } else if (((arg[pc] ?? 0) & ~asserts) === 0) stack.push(out[pc] ?? 0);
          break;
        case OP.character:
          this.pcs.push(pc);
          this.tags.push(tag);
          break;
        case OP.match:
          if (ignoresMatch) {
            // A later thread may still reach it with a match that is not empty.
            marks[pc] = 0;
            break;
          }
          this.matchedPc = pc;
          return true;
      }
    }
    return false;
  }
}
