import { Following } from '../../../src/following/following.ts';
import type { GenerationContent } from '../../../src/ports/content/content.ts';
import type { FollowedGeneration, Follower } from '../../../src/ports/following/follower.ts';
import type { FollowerNotes } from '../../../src/ports/following/follower-notes.ts';
import { SqlFollowerNotes } from '../../../src/store/following/sql-follower-notes.ts';
import { SqlSpooledContents } from '../../../src/store/following/sql-spooled-contents.ts';
import { SqliteSettledRows } from '../../../src/store/following/sqlite-settled-rows.ts';
import type { SqliteDatabase } from '../../../src/store/sql/sqlite/sqlite-database.ts';
import { sqliteGenerationStore } from '../../../src/store/sql/stores/sql-generation-store.ts';
import { settledIn } from '../../adapters/contracts/settled-rows.ts';
import { sqliteForTests } from '../../adapters/contracts/sqlite-for-tests.ts';
import { HandClock } from '../../kit/fakes/hand-clock.ts';

/** A follower that records what it takes, and does before what a test says. */
export class RecordingFollower implements Follower {
  readonly workspaceId: string = 'w';
  readonly version: string = '1';
  readonly sinceMs: number = 0;
  bounds = { maxAgeMs: 86_400_000, maxGenerations: 1_000_000 };
  batchSize = 10;
  readsContent = false;
  readonly id: string;
  readonly batches: string[][] = [];
  readonly contents = new Map<string, GenerationContent | undefined>();
  before: (ids: readonly string[], signal: AbortSignal) => Promise<void> = async () => {};

  constructor(id: string, settings: Partial<Follower> = {}) {
    this.id = id;
    Object.assign(this, settings);
  }

  get taken(): string[] {
    return this.batches.flat();
  }

  async take(generations: readonly FollowedGeneration[], signal: AbortSignal): Promise<void> {
    const ids = generations.map(({ generation }) => generation.id);
    await this.before(ids, signal);
    this.batches.push(ids);
    for (const { generation, content } of generations) this.contents.set(generation.id, content);
  }
}

interface OpenOptions extends Partial<Pick<FollowerNotes, 'takeTurn'>> {
  readonly everyMs?: number;
}

/** Followers on an embedded database. */
export class FollowersUnderTest {
  readonly clock = new HandClock();
  readonly followers: Follower[] = [];
  /** How often it was looked whether there are new rows. */
  passes = 0;
  readonly lines: {
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>> | undefined;
  }[] = [];
  readonly #database: SqliteDatabase;
  readonly #open: Following[] = [];
  #listener: (change: { readonly kind: 'anything' }) => void = () => {};

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  get generations() {
    return sqliteGenerationStore(this.#database);
  }

  get rows() {
    return new SqliteSettledRows(this.#database);
  }

  get notes() {
    return SqlFollowerNotes.embedded(this.#database);
  }

  spool(): SqlSpooledContents {
    return new SqlSpooledContents(this.#database, { clock: this.clock, warn: () => {} });
  }

  /** Settles generations now. */
  settle(...ids: string[]): Promise<void> {
    return this.settleIn('w', ids);
  }

  settleIn(workspaceId: string, ids: readonly string[]): Promise<void> {
    return this.generations.add(ids.map((id) => settledIn(workspaceId, id, this.clock.now())));
  }

  /** Says that followers have changed. */
  changed(): void {
    this.#listener({ kind: 'anything' });
  }

  /** `takeTurn`: what its notes say of its turn; it always has it by default. `everyMs`: interval of passes. */
  open({ takeTurn, everyMs = 5 }: OpenOptions = {}): Following {
    const { notes, rows } = this;
    const log = (message: string, fields?: Readonly<Record<string, unknown>>) =>
      void this.lines.push({ message, fields });
    const following = new Following({
      rows: {
        begin: (...asked) => rows.begin(...asked),
        end: () => {
          this.passes += 1;
          return rows.end();
        },
        read: (...asked) => rows.read(...asked),
        count: (...asked) => rows.count(...asked),
        skip: (...asked) => rows.skip(...asked),
        release: (places) => rows.release(places),
      },
      notes: {
        takeTurn: takeTurn ?? (() => notes.takeTurn()),
        endTurn: () => notes.endTurn(),
        listAll: () => notes.listAll(),
        note: (id, note) => notes.note(id, note),
        forget: (id) => notes.forget(id),
      },
      contents: this.spool(),
      clock: this.clock,
      random: () => 0,
      log: { warn: log, info: log },
      isAway: () => false,
      sources: [{ followers: async () => [...this.followers] }],
      changes: {
        subscribe: (listener) => {
          this.#listener = listener;
          return () => {};
        },
      },
      spoolBounds: () => ({ maxAgeMs: 86_400_000, maxBytes: 1e9 }),
      everyMs,
      endMs: 200,
      upkeepMs: 0,
    });
    this.#open.push(following);
    following.start();
    return following;
  }

  async close(): Promise<void> {
    for (const following of this.#open) await following.close();
  }
}

/** Opens followers for each test of a file. */
export function followersForTests(): () => Promise<FollowersUnderTest> {
  const emptied = sqliteForTests();
  return async () => new FollowersUnderTest(await emptied());
}
