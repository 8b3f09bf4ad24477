import type { Log } from '../kit/log/log.ts';
import { isInTime } from '../kit/loop/is-in-time.ts';
import { type Follower, FollowerWaits } from '../ports/following/follower.ts';
import type { FollowerNote, FollowerNotes } from '../ports/following/follower-notes.ts';
import type { RowPlace, RowRange } from '../ports/following/settled-rows.ts';
import { BatchSize } from './batch-size.ts';
import { pauseMs } from './pauses.ts';
import { type BatchSources, readBatch } from './read-batch.ts';
import { OTHERS, takeAfterOthers } from './take-after-others.ts';
import { takeInHalves } from './take-in-halves.ts';

export interface CourseDependencies extends BatchSources {
  readonly notes: FollowerNotes;
  /** 0 <= number < 1. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Whether an error says that the database does not answer, which logs that itself. */
  isAway(error: unknown): boolean;
}

/** Another gateway has taken the right to run followers. */
export class TurnLost extends Error {}

/** How long a follower goes on before others get its place, milliseconds. */
const STEP_MS = 5_000;

/** Generations beyond the bound of a follower that are counted at once. */
const COUNTED_BEYOND = 100_000;

/** One follower on its way through the settled generations. */
export class FollowerCourse {
  readonly #dependencies: CourseDependencies;
  readonly #closing = new AbortController();
  /** Called when it needs the content of generations no longer. */
  readonly #taken: (follower: Follower, generationIds: readonly string[]) => Promise<void>;
  /** Rows of generations that were settled before may become visible behind the place where it began. */
  readonly #beganMs: number;
  #follower: Follower;
  #note: FollowerNote;
  readonly #batchSize: BatchSize;
  #dueAt = 0;
  #isEnding = false;
  #step: Promise<unknown> | undefined;

  constructor(
    follower: Follower,
    note: FollowerNote,
    dependencies: CourseDependencies,
    taken: (follower: Follower, generationIds: readonly string[]) => Promise<void>,
    beganMs = Number.NEGATIVE_INFINITY,
  ) {
    this.#beganMs = beganMs;
    this.#follower = follower;
    this.#batchSize = new BatchSize(follower.batchSize);
    this.#note = note;
    this.#dependencies = dependencies;
    this.#taken = taken;
  }

  get follower(): Follower {
    return this.#follower;
  }

  /** Other settings, such as another address, are tried at once. */
  changeTo(follower: Follower): void {
    if (follower.version !== this.#follower.version) this.#dueAt = 0;
    this.#follower = follower;
    this.#batchSize.limit(follower.batchSize);
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

  /**
   * Goes on towards a place, for some seconds. Resolves with whether that was too short. Rejects with TurnLost, or if
   * the database does not answer.
   */
  run(until: RowPlace): Promise<boolean> {
    const step = this.#goOn(until).finally(() => {
      this.#step = undefined;
    });
    this.#step = step;
    return step;
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

  async #goOn(until: RowPlace): Promise<boolean> {
    const { clock } = this.#dependencies;
    const endsAt = clock.monotonic() + STEP_MS;
    let { follower } = this;
    try {
      while (!this.#isEnding && this.#note.place !== until && (await this.#takeBatch(follower, until))) {
        if (clock.monotonic() >= endsAt) return true;
        follower = this.follower;
      }
      // Also if what is left is too young: more of it goes together then.
      this.#dueAt = clock.monotonic() + (follower.restMs ?? 0);
    } catch (error) {
      if (this.#closing.signal.aborted) return false;
      if (error instanceof TurnLost || this.#dependencies.isAway(error)) throw error;
      await this.#failed(error, follower);
    }
    return false;
  }

  /** False if there are no more, or the next generations are too young. */
  async #takeBatch(follower: Follower, until: RowPlace): Promise<boolean> {
    const { signal } = this.#closing;
    const { clock } = this.#dependencies;
    const { size, isStuck } = this.#batchSize;
    const { generations, place, isHeld } = await readBatch(this.#dependencies, this.#range(until), {
      batchSize: isStuck ? Math.min(1 + OTHERS, follower.batchSize) : size,
      readsContent: follower.readsContent,
    });
    signal.throwIfAborted();
    const since = generations.filter(({ generation }) => generation.settledAtMs >= this.#beganMs);
    const oldest = clock.now() - follower.bounds.maxAgeMs;
    const batch = since.filter(({ generation }) => generation.settledAtMs >= oldest);
    const tooOld = since.length - batch.length;
    this.#batchSize.given(batch.length);
    const { refused, reason } =
      batch.length === 0
        ? { refused: 0, reason: undefined }
        : await (isStuck ? takeAfterOthers : takeInHalves)(batch, (part) => follower.take(part, signal));
    if (batch.length > 0) this.#batchSize.passed(batch.length);
    if (isStuck && refused > 0) {
      const { log } = this.#dependencies;
      log.warn('a follower goes on failing with a generation while it takes others; it is left out', {
        ...this.#place,
        generation_id: batch[0]?.generation.id,
        problem: reason,
      });
    }
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

  #range(until: RowPlace): RowRange {
    return { workspaceId: this.follower.workspaceId, behind: this.#note.place, until };
  }

  async #failed(error: unknown, failed: Follower): Promise<void> {
    const { clock, random } = this.#dependencies;
    const isExpected = error instanceof FollowerWaits;
    this.#batchSize.failed(isExpected ? error.fault : undefined);
    const waitMs = pauseMs(this.#batchSize.failures, isExpected ? error.retryAfterMs : undefined, random);
    this.#dueAt = this.follower.version === failed.version ? clock.monotonic() + waitMs : 0;
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
