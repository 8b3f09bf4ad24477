import type { Follower, FollowerSource } from '../ports/following/follower.ts';
import type { FollowerNote } from '../ports/following/follower-notes.ts';
import type { RowPlace } from '../ports/following/settled-rows.ts';
import type { Changes } from '../ports/shared/changes.ts';
import { type CourseDependencies, FollowerCourse, TurnLost } from './course.ts';
import { ReadContents } from './read-contents.ts';
import { Upkeep, type UpkeepDependencies } from './upkeep.ts';

export interface FollowingDependencies extends CourseDependencies, UpkeepDependencies {
  readonly sources: readonly FollowerSource[];
  readonly changes: Pick<Changes, 'subscribe'>;
  /** Interval of passes, milliseconds. */
  readonly everyMs?: number;
  /** Interval of counting and pruning, milliseconds. */
  readonly upkeepMs?: number;
  /** How long a batch under way may take at the end, milliseconds. */
  readonly endMs?: number;
}

/** How a follower fares that this gateway runs. */
export interface FollowerState extends FollowerNote {
  readonly id: string;
  readonly type: string;
}

const EVERY_MS = 1_000;
const UPKEEP_MS = 10_000;

/** How often the right to run followers is renewed or tried, milliseconds. */
const TURN_MS = 2_500;

/** How long that right holds without an answer of the database, milliseconds. */
const TURN_HOLDS_MS = 8_000;

/** How often followers are listed although no change was heard of, milliseconds. */
const LIST_MS = 60_000;

/** Steps at the same time: of followers that work, and of those that failed last, so that they hold up no other. */
const STEPS_AT_ONCE = 8;

const END_MS = 5_000;

/** The note of a follower that has taken nothing. */
const NEW = { taken: 0, dropped: 0, waiting: 0, problem: null, problemSinceMs: null };

/** Tells followers of settled generations, at the gateway whose turn it is. Without followers it does nothing. */
export class Following {
  readonly #dependencies: FollowingDependencies;
  readonly #courses = new Map<string, FollowerCourse>();
  readonly #read = new ReadContents();
  readonly #upkeeping: Upkeep;
  readonly #unsubscribe: () => void;
  #followers: readonly Follower[] = [];
  #mustList = true;
  #listedAt = Number.NEGATIVE_INFINITY;
  #hasTurn = false;
  #turnAt = Number.NEGATIVE_INFINITY;
  #upkeepAt = Number.NEGATIVE_INFINITY;
  #upkeep: Promise<void> | undefined;
  /** Rows may be kept in order for workspaces that have no follower any more. */
  #mustRelease = true;
  #isClosed = false;
  #wake: () => void = () => {};
  #run: Promise<void> = Promise.resolve();

  constructor(dependencies: FollowingDependencies) {
    this.#dependencies = dependencies;
    this.#upkeeping = new Upkeep(dependencies);
    this.#unsubscribe = dependencies.changes.subscribe(({ kind }) => {
      if (kind === 'workspace' || kind === 'anything') this.lookAgain();
    });
  }

  start(): void {
    this.#run = this.#work();
  }

  /** Followers may have changed. */
  lookAgain(): void {
    this.#mustList = true;
    this.#wake();
  }

  /** How those fare that this gateway runs. */
  get running(): readonly FollowerState[] {
    return [...this.#courses].map(([id, { note, follower }]) => ({
      ...note,
      id,
      type: follower.type ?? id.slice(0, id.indexOf('/')),
    }));
  }

  /** Bytes of contents that wait, by the last count of this gateway. */
  get contentBytes(): number {
    return this.#upkeeping.contentBytes;
  }

  /** Contents that were lost since the start of this gateway. */
  get lostContents(): number {
    return this.#dependencies.contents.lostCount;
  }

  async close(): Promise<void> {
    const { endMs = END_MS } = this.#dependencies;
    this.#isClosed = true;
    this.#unsubscribe();
    this.#wake();
    await this.#run;
    await Promise.all([...this.#courses.values()].map((course) => course.end(endMs)));
    await this.#upkeep;
    if (this.#hasTurn) await this.#dependencies.notes.endTurn().catch(() => {});
    this.#courses.clear();
  }

  async #work(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#dependencies;
    while (!this.#isClosed) {
      try {
        await this.#pass();
      } catch {
        // The database logs its outages itself; the next pass tries again.
        this.#checkTurn();
      }
      const isIdle = this.#followers.length === 0 && !this.#mustList && !this.#mustRelease;
      await this.#pause(isIdle ? LIST_MS : everyMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #pass(): Promise<void> {
    await this.#list();
    if (this.#followers.length === 0 && this.#courses.size === 0 && !this.#mustRelease) return;
    if (!(await this.#takeTurn())) return;
    await this.#reconcile();
    const until = this.#followers.length === 0 ? undefined : await this.#dependencies.rows.end();
    if (until !== undefined) this.#startSteps(until);
    this.#startUpkeep(until);
  }

  async #list(): Promise<void> {
    const { sources, clock } = this.#dependencies;
    const now = clock.monotonic();
    if (!this.#mustList && now - this.#listedAt < LIST_MS) return;
    this.#mustList = false;
    try {
      const lists = await Promise.all(sources.map((source) => source.followers()));
      this.#followers = lists.flat();
      this.#listedAt = now;
    } catch (error) {
      this.#mustList = true;
      throw error;
    }
  }

  async #takeTurn(): Promise<boolean> {
    const { notes, clock } = this.#dependencies;
    const now = clock.monotonic();
    if (now - this.#turnAt < TURN_MS) return this.#hasTurn;
    const had = this.#hasTurn;
    const has = await notes.takeTurn();
    this.#hasTurn = has;
    this.#turnAt = now;
    if (had && !has) this.#turnLost();
    if (has && !had) {
      // What another gateway has noted of followers that are not known here must not be forgotten.
      this.#mustList = true;
      await this.#list();
    }
    return has;
  }

  #checkTurn(): void {
    if (this.#dependencies.clock.monotonic() - this.#turnAt > TURN_HOLDS_MS) this.#turnLost();
  }

  #turnLost(): void {
    this.#hasTurn = false;
    for (const course of this.#courses.values()) course.abort();
    this.#courses.clear();
    this.#mustRelease = true;
  }

  /** Makes a course for each follower, and ends those of others. */
  async #reconcile(): Promise<void> {
    const { notes, rows, clock } = this.#dependencies;
    const wanted = new Map(this.#followers.map((follower) => [follower.id, follower]));
    const isNew = this.#followers.some(({ id }) => !this.#courses.has(id));
    const noted = isNew || this.#mustRelease ? await notes.listAll() : new Map<string, FollowerNote>();
    for (const id of new Set([...this.#courses.keys(), ...noted.keys()])) {
      if (wanted.has(id)) continue;
      this.#courses.get(id)?.abort();
      this.#courses.delete(id);
      await notes.forget(id);
      this.#mustRelease = true;
    }
    for (const [id, follower] of wanted) {
      const course = this.#courses.get(id);
      if (course !== undefined) {
        course.changeTo(follower);
        continue;
      }
      let note = noted.get(id);
      const isFirst = note === undefined;
      if (note === undefined) {
        // It may be about to forget the order of rows of this workspace.
        await this.#upkeep;
        const place = await rows.begin(follower.workspaceId, follower.sinceMs);
        note = { ...NEW, place, updatedAtMs: clock.now() };
        if (!(await notes.note(id, note))) throw new TurnLost('another gateway runs followers');
      }
      this.#courses.set(
        id,
        new FollowerCourse(
          follower,
          note,
          this.#dependencies,
          (taker, ids) => this.#taken(taker, ids),
          isFirst ? follower.sinceMs : undefined,
        ),
      );
    }
  }

  /** Removes contents that all followers of a workspace have read. */
  async #taken(follower: Follower, generationIds: readonly string[]): Promise<void> {
    const readers = this.#followers.filter(
      ({ workspaceId, readsContent }) => readsContent && workspaceId === follower.workspaceId,
    );
    const read = this.#read.taken(
      follower.id,
      readers.map(({ id }) => id),
      generationIds,
    );
    await this.#dependencies.contents.delete(read);
  }

  #startSteps(until: RowPlace): void {
    const courses = [...this.#courses];
    for (const isFailing of [false, true]) {
      const group = courses.filter(([, course]) => course.isFailing === isFailing);
      let free = STEPS_AT_ONCE - group.filter(([, course]) => course.isRunning).length;
      for (const [id, course] of group) {
        if (free <= 0) break;
        if (!course.isDue(until)) continue;
        free--;
        // The next time others come first.
        this.#courses.delete(id);
        this.#courses.set(id, course);
        void this.#step(course, until);
      }
    }
  }

  async #step(course: FollowerCourse, until: RowPlace): Promise<void> {
    try {
      if (await course.run(until)) this.#wake();
    } catch (error) {
      if (error instanceof TurnLost && this.#courses.get(course.follower.id) === course) this.#turnLost();
    }
  }

  #startUpkeep(until: RowPlace | undefined): void {
    const { clock, upkeepMs = UPKEEP_MS } = this.#dependencies;
    const now = clock.monotonic();
    if (this.#upkeep !== undefined || (now - this.#upkeepAt < upkeepMs && !this.#mustRelease)) return;
    this.#upkeepAt = now;
    this.#mustRelease = false;
    this.#upkeep = this.#upkeeping
      .run([...this.#courses.values()], until)
      .catch(() => {
        this.#mustRelease = true;
      })
      .finally(() => {
        this.#upkeep = undefined;
      });
  }
}
