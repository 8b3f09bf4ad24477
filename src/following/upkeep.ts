import type { Clock } from '../kit/time/clock.ts';
import type { RowPlace, SettledRows } from '../ports/following/settled-rows.ts';
import type { SpooledContents } from '../ports/following/spooled-contents.ts';
import type { FollowerCourse } from './course.ts';

/** Bounds of all contents that followers have yet to read. */
export interface SpoolBounds {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

export interface UpkeepDependencies {
  readonly rows: SettledRows;
  readonly contents: SpooledContents;
  readonly spoolBounds: () => SpoolBounds;
  readonly clock: Clock;
}

/** Keeps followers and what waits for them within bounds. */
export class Upkeep {
  readonly #dependencies: UpkeepDependencies;
  /** Places of followers by their workspaces, as of the last time. */
  #places: ReadonlyMap<string, readonly RowPlace[]> = new Map();
  #contentBytes = 0;

  constructor(dependencies: UpkeepDependencies) {
    this.#dependencies = dependencies;
  }

  /** Bytes of contents that waited the last time. */
  get contentBytes(): number {
    return this.#contentBytes;
  }

  /** `until`: the end of all rows; undefined if nothing follows them. */
  async run(courses: readonly FollowerCourse[], until: RowPlace | undefined): Promise<void> {
    const { rows, contents, clock, spoolBounds } = this.#dependencies;
    if (until !== undefined) for (const course of courses) await course.count(until);
    const places = new Map<string, RowPlace[]>();
    for (const { follower, note } of courses) {
      const known = places.get(follower.workspaceId);
      if (known === undefined) places.set(follower.workspaceId, [note.place]);
      else known.push(note.place);
    }
    // Places of the last time: a follower that was created a moment ago begins before them.
    await rows.release(new Map([...places].map(([id, own]) => [id, this.#places.get(id) ?? own])));
    this.#places = places;
    const { maxAgeMs, maxBytes } = spoolBounds();
    this.#contentBytes = await contents.prune({ beforeMs: clock.now() - maxAgeMs, maxBytes });
  }
}
