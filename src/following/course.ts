import type { Log } from '../kit/log/log.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import type { Clock } from '../kit/time/clock.ts';
import { type FollowedGeneration, type Follower, FollowerWaits } from '../ports/following/follower.ts';
import type { FollowerNote, FollowerNotes } from '../ports/following/follower-notes.ts';
import type { RowPlace, RowRange, SettledRows } from '../ports/following/settled-rows.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { StoredGeneration } from '../ports/generations.ts';
import { pauseMs } from './pauses.ts';
import { takeInHalves } from './take-in-halves.ts';

/** What followers are run with. */
export interface CourseDependencies {
  readonly rows: SettledRows;
  readonly notes: FollowerNotes;
  readonly contents: SpooledContents;
  readonly clock: Clock;
  /** 0 <= number < 1. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Whether an error says that the database does not answer, which logs that itself. */
  isAway(error: unknown): boolean;
  /** How long generations are held for a follower that reads content, which may be written after the row. */
  readonly holdMs?: number;
}

/** Another gateway has taken the right to run followers. */
export class TurnLost extends Error {}

/** Rows that are read at once: few enough not to block the event loop. */
const PAGE_ROWS = 100;

/** Characters of contents that are read at once. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

const HOLD_MS = 2_000;

/** How long a follower goes on before others get its place, milliseconds. */
const STEP_MS = 5_000;

/** Generations beyond the bound of a follower that are counted at once. */
const COUNTED_BEYOND = 100_000;

/** One follower on its way through the settled generations. */
export class FollowerCourse {
  follower: Follower;
  readonly #dependencies: CourseDependencies;
  readonly #closing = new AbortController();
  /** Called when it needs the content of generations no longer. */
  readonly #taken: (follower: Follower, generationIds: readonly string[]) => Promise<void>;
  /** Rows of generations that were settled before may become visible behind the place where it began. */
  readonly #beganMs: number;
  #note: FollowerNote;
  #failures = 0;
  #dueAt = 0;
  #isEnding = false;
  #step: Promise<void> | undefined;

  constructor(
    follower: Follower,
    note: FollowerNote,
    dependencies: CourseDependencies,
    taken: (follower: Follower, generationIds: readonly string[]) => Promise<void>,
    beganMs = Number.NEGATIVE_INFINITY,
  ) {
    this.#beganMs = beganMs;
    this.follower = follower;
    this.#note = note;
    this.#dependencies = dependencies;
    this.#taken = taken;
  }

  get note(): FollowerNote {
    return this.#note;
  }

  get isFailing(): boolean {
    return this.#note.problem !== null;
  }

  /** Whether it has something to do and may do it now. */
  isDue(until: RowPlace): boolean {
    return (
      this.#step === undefined &&
      !this.#closing.signal.aborted &&
      this.#note.place !== until &&
      this.#dependencies.clock.monotonic() >= this.#dueAt
    );
  }

  /** Whether a step is under way. */
  get isRunning(): boolean {
    return this.#step !== undefined;
  }

  /** Goes on towards a place, for some seconds. Rejects with TurnLost, or if the database does not answer. */
  run(until: RowPlace): Promise<void> {
    this.#step ??= this.#goOn(until).finally(() => {
      this.#step = undefined;
    });
    return this.#step;
  }

  /** Counts what waits, and leaves out the oldest beyond the bound, unless a step is under way. */
  async count(until: RowPlace): Promise<void> {
    if (this.#step !== undefined) return;
    this.#step = this.#count(until).finally(() => {
      this.#step = undefined;
    });
    await this.#step;
  }

  async #count(until: RowPlace): Promise<void> {
    const { rows } = this.#dependencies;
    const { maxGenerations } = this.follower.bounds;
    const range = this.#range(until);
    const waiting = await rows.count(range, maxGenerations + COUNTED_BEYOND);
    const beyond = Math.max(0, waiting - maxGenerations);
    if (beyond === 0 && waiting === this.#note.waiting) return;
    await this.#change({
      place: await rows.skip(range, beyond),
      dropped: this.#note.dropped + beyond,
      waiting: waiting - beyond,
    });
  }

  /** Begins no further batch, waits for the one under way at most so long, then breaks it off. */
  async end(limitMs: number): Promise<void> {
    this.#isEnding = true;
    if (this.#step !== undefined) await isInTime(this.#step, limitMs).catch(() => {});
    this.abort();
  }

  abort(): void {
    this.#closing.abort();
  }

  async #goOn(until: RowPlace): Promise<void> {
    const { clock } = this.#dependencies;
    const endsAt = clock.monotonic() + STEP_MS;
    try {
      while (!this.#isEnding && this.#note.place !== until && clock.monotonic() < endsAt) {
        if (!(await this.#takeBatch(until))) return;
      }
      if (this.#note.place === until) this.#dueAt = clock.monotonic() + (this.follower.restMs ?? 0);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (error instanceof TurnLost || this.#dependencies.isAway(error)) throw error;
      await this.#failed(error);
    }
  }

  /** False if there are no more, or the next generations are too young. */
  async #takeBatch(until: RowPlace): Promise<boolean> {
    const { follower } = this;
    const { signal } = this.#closing;
    const { clock } = this.#dependencies;
    const { generations, place, isHeld } = await this.#read(until);
    signal.throwIfAborted();
    const since = generations.filter(({ generation }) => generation.settledAtMs >= this.#beganMs);
    const oldest = clock.now() - follower.bounds.maxAgeMs;
    const batch = since.filter(({ generation }) => generation.settledAtMs >= oldest);
    const tooOld = since.length - batch.length;
    const { refused, reason } =
      batch.length === 0
        ? { refused: 0, reason: undefined }
        : await takeInHalves(batch, (part) => follower.take(part, signal));
    const { taken, dropped, waiting, problem, problemSinceMs } = this.#note;
    const change = {
      place,
      taken: taken + batch.length - refused,
      dropped: dropped + tooOld + refused,
      waiting: Math.max(0, waiting - generations.length),
    };
    if (refused > 0) {
      await this.#change({ ...change, ...this.#problem(`refuses generations: ${reason}`) });
    } else if (batch.length > 0) {
      this.#worked();
      await this.#change({ ...change, problem: null, problemSinceMs: null });
    } else if (place !== this.#note.place) {
      await this.#change({ ...change, problem, problemSinceMs });
    }
    if (follower.readsContent) {
      await this.#taken(
        follower,
        generations.map(({ generation }) => generation.id),
      );
    }
    return !isHeld && generations.length > 0;
  }

  /** The next generations, the place behind them, and whether younger ones are held. */
  async #read(
    until: RowPlace,
  ): Promise<{ generations: FollowedGeneration[]; place: RowPlace; isHeld: boolean }> {
    const { rows, contents } = this.#dependencies;
    const { batchSize, readsContent } = this.follower;
    const read: StoredGeneration[] = [];
    let { place } = this.#note;
    while (read.length < batchSize && place !== until) {
      const page = await rows.read(
        { ...this.#range(until), behind: place },
        Math.min(PAGE_ROWS, batchSize - read.length),
      );
      read.push(...page.generations);
      place = page.place;
      // Before the first row of all, a place may never be that of the end.
      if (page.generations.length === 0) break;
    }
    if (!readsContent || read.length === 0) {
      return {
        generations: read.map((generation) => ({ generation, content: undefined })),
        place,
        isHeld: false,
      };
    }
    const old = read.slice(0, this.#countOld(read));
    const found = await contents.find(
      old.map(({ id }) => id),
      MAX_CHARACTERS,
    );
    const generations = old
      .slice(0, found.lookedUp)
      .map((generation) => ({ generation, content: found.contents.get(generation.id) }));
    const isWhole = generations.length === read.length;
    return {
      generations,
      place: isWhole ? place : await rows.skip(this.#range(until), generations.length),
      isHeld: old.length < read.length && generations.length === old.length,
    };
  }

  /** How many of the first generations are old enough for their content to be there. */
  #countOld(generations: readonly StoredGeneration[]): number {
    const { clock, holdMs = HOLD_MS } = this.#dependencies;
    const nowMs = clock.now();
    const young = generations.findIndex(({ settledAtMs }) => Math.abs(nowMs - settledAtMs) < holdMs);
    return young === -1 ? generations.length : young;
  }

  #range(until: RowPlace): RowRange {
    return { workspaceId: this.follower.workspaceId, behind: this.#note.place, until };
  }

  async #failed(error: unknown): Promise<void> {
    const { clock, random } = this.#dependencies;
    const isExpected = error instanceof FollowerWaits;
    this.#failures++;
    this.#dueAt =
      clock.monotonic() + pauseMs(this.#failures, isExpected ? error.retryAfterMs : undefined, random);
    await this.#change(this.#problem(isExpected ? error.message : 'a fault of the gateway', error));
  }

  /** The problem as it is noted. Logged if there was none before. */
  #problem(problem: string, error?: unknown): Pick<FollowerNote, 'problem' | 'problemSinceMs'> {
    const { clock, log } = this.#dependencies;
    if (this.#note.problem === null) {
      const isFault = error !== undefined && !(error instanceof FollowerWaits);
      log.warn('a follower of generations fails; what was settled waits for it', {
        ...this.#place,
        problem,
        ...(isFault && { error }),
      });
    }
    return { problem, problemSinceMs: this.#note.problemSinceMs ?? clock.now() };
  }

  #worked(): void {
    this.#failures = 0;
    const { problem, problemSinceMs } = this.#note;
    if (problem === null) return;
    const { clock, log } = this.#dependencies;
    const awayMs = clock.now() - (problemSinceMs ?? clock.now());
    log.info('a follower of generations goes on', { ...this.#place, away_ms: awayMs });
  }

  get #place() {
    return { follower: this.follower.id, workspace_id: this.follower.workspaceId };
  }

  async #change(change: Partial<FollowerNote>): Promise<void> {
    const { notes, clock } = this.#dependencies;
    this.#closing.signal.throwIfAborted();
    const note = { ...this.#note, ...change, updatedAtMs: clock.now() };
    if (!(await notes.note(this.follower.id, note))) throw new TurnLost('another gateway runs followers');
    this.#note = note;
  }
}
