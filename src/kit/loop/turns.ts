import type { Clock } from '../time/clock.ts';
import { TurnQueue } from './turn-queue.ts';

/**
 * Work that is done in slices of a millisecond or so: yields after each, and returns what came of it. Pure: the code
 * that runs it decides what happens between the slices.
 */
export type Sliced<T> = Generator<void, T, void>;

/**
 * Runs work in slices, each in a turn of the event loop of its own. Work of a single slice is done at once. For work
 * of which there is little at a time; otherwise take a `SharedTurn`.
 */
export async function runInTurns<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const slice = work.next();
    if (slice.done === true) return slice.value;
    await nextTurn();
  }
}

/** Runs work in slices to its end, without giving up the turn. */
export function runAtOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const slice = work.next();
    if (slice.done === true) return slice.value;
  }
}

/** Milliseconds after which sliced work gives up the turn. */
const TURN_MS = 5;

/** Pieces of long work that go on in one turn of the event loop, so that many of them do not make it long. */
const MOST_IN_TURN = 2;

const LONG_WORK = new TurnQueue(MOST_IN_TURN);

/**
 * Runs pieces of sliced work in one turn, until they have taken some milliseconds together; then in later ones, which
 * they share with other such work: however much there is, a turn stays short. Rejects with the reason of the signal if
 * that is aborted while it waits.
 */
export class SharedTurn {
  readonly #signal: AbortSignal | undefined;
  #beganMs = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  async run<T>(work: Sliced<T>): Promise<T> {
    for (;;) {
      const slice = work.next();
      if (slice.done === true) return slice.value;
      if (performance.now() - this.#beganMs <= TURN_MS) continue;
      await LONG_WORK.next();
      this.#signal?.throwIfAborted();
      this.#beganMs = performance.now();
    }
  }
}

/** Members of a list per slice, at about ten microseconds each. */
const MEMBERS_IN_SLICE = 128;

/**
 * Whether all members of a list are visited in one slice: then a plain loop does, which costs less than a generator.
 */
export function isOneSlice(members: readonly unknown[]): boolean {
  return members.length <= MEMBERS_IN_SLICE;
}

/** Visits every member of a list, some of them in a slice. */
export function* forEachSliced<T>(
  members: Iterable<T>,
  visit: (member: T, index: number) => void,
): Sliced<void> {
  let index = 0;
  for (const member of members) {
    if (index > 0 && index % MEMBERS_IN_SLICE === 0) yield;
    visit(member, index++);
  }
}

/** Steps per slice, at a few microseconds each. */
const STEPS_IN_SLICE = 256;

/** Counts the steps of sliced work across nested loops, so that no slice grows long. */
export class Pace {
  #steps = 0;

  /** Call before each step; true if the slice is full: yield first. */
  tick(): boolean {
    this.#steps = (this.#steps + 1) % STEPS_IN_SLICE;
    return this.#steps === 0;
  }

  *flatMap<T, U>(members: Iterable<T>, make: (member: T) => readonly U[]): Sliced<U[]> {
    const all: U[] = [];
    for (const member of members) {
      if (this.tick()) yield;
      for (const made of make(member)) all.push(made);
    }
    return all;
  }
}

const LONG_STEP_MS = 2;

/**
 * Does one step of the work on a request: its result at once, or after a long one in the next turn of the event loop.
 */
export function inTurn<T>(clock: Pick<Clock, 'monotonic'>, step: () => T): T | Promise<T> {
  const started = clock.monotonic();
  const result = step();
  return clock.monotonic() - started > LONG_STEP_MS ? nextTurn().then(() => result) : result;
}

/**
 * Runs a function in the same turn of the event loop, after all pending microtasks.
 */
export function afterThis(run: () => void): void {
  // A tick that is scheduled by a microtask runs after all microtasks.
  queueMicrotask(() => process.nextTick(run));
}

/** Resolves in the next turn of the event loop. Awaiting a settled promise does not let it turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
