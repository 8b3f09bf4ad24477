import { type Kysely, sql } from 'kysely';
import { weightOf } from '../../kit/json/stringify-sliced.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { Clock } from '../../kit/time/clock.ts';
import type { GenerationContent, StoredContent } from '../../ports/content/content.ts';
import type { FoundContents, SpooledContents } from '../../ports/following/spooled-contents.ts';
import type { SpooledContentRow, Tables } from '../sql/tables.ts';
import { RecentContents } from './recent-contents.ts';
import { contentOfText, textOfContent } from './spooled-content.ts';

/** Limits of what waits to be written. Content beyond them is lost: a slow database must not fill the memory. */
const MAX_WAITING = 1_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;

const MAX_AT_ONCE = 50;
const MAX_CHARACTERS_AT_ONCE = 8 * 1024 * 1024;

/** How long contents are gathered for a statement, milliseconds: a process that is killed meanwhile loses them. */
const GATHER_MS = 200;

const REMOVED_AT_ONCE = 500;

/** Minimum time between log messages about lost content. */
const REPORT_MS = 60_000;

export interface SpoolOptions {
  readonly clock: Clock;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

interface Waiting {
  readonly stored: StoredContent;
  readonly characters: number;
}

/** Contents for followers in a database of either engine, written in the background, many at once. */
export class SqlSpooledContents implements SpooledContents {
  readonly #database: Kysely<Tables>;
  readonly #options: SpoolOptions;
  readonly #recent = new RecentContents();
  #waiting: Waiting[] = [];
  #characters = 0;
  #writing: Promise<void> | undefined;
  /** Ends the gathering. */
  #writeNow: () => void = () => {};
  #isClosed = false;
  #lost = 0;
  #lostCount = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Kysely<Tables>, options: SpoolOptions) {
    this.#database = database;
    this.#options = options;
  }

  get lostCount(): number {
    return this.#lostCount;
  }

  put(stored: StoredContent): void {
    const characters = weightOf(stored.content, MAX_WAITING_CHARACTERS);
    const isFull =
      this.#waiting.length >= MAX_WAITING || this.#characters + characters > MAX_WAITING_CHARACTERS;
    if (this.#isClosed || isFull) {
      this.#reportLost(1, 'more is waiting to be written than there is room for');
      return;
    }
    this.#waiting.push({ stored, characters });
    this.#recent.add(stored, characters, this.#options.clock.monotonic());
    this.#characters += characters;
    if (this.#isBatchFull()) this.#writeNow();
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async find(generationIds: readonly string[], maxCharacters: number): Promise<FoundContents> {
    const stored = generationIds.filter((id) => !this.#recent.has(id));
    const charactersOf = await this.#storedCharacters(stored);
    let characters = 0;
    const beyond = generationIds.findIndex((id, index) => {
      characters += charactersOf.get(id) ?? this.#recent.charactersOf(id);
      return index > 0 && characters > maxCharacters;
    });
    const lookedUp = beyond === -1 ? generationIds.length : beyond;
    const asked = generationIds.slice(0, lookedUp);
    const contents = await this.#storedContents(asked.filter((id) => charactersOf.has(id)));
    for (const id of asked) {
      const content = this.#recent.contentOf(id);
      if (content !== undefined) contents.set(id, content);
    }
    return { contents, lookedUp };
  }

  async #storedCharacters(generationIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (generationIds.length === 0) return new Map();
    const sizes = await this.#database
      .selectFrom('spooled_contents')
      .select(['generation_id', 'characters'])
      .where('generation_id', 'in', generationIds)
      .execute();
    return new Map(sizes.map((row) => [row.generation_id, Number(row.characters)]));
  }

  async #storedContents(generationIds: readonly string[]): Promise<Map<string, GenerationContent>> {
    const contents = new Map<string, GenerationContent>();
    if (generationIds.length === 0) return contents;
    const rows = await this.#database
      .selectFrom('spooled_contents')
      .select('content')
      .where('generation_id', 'in', generationIds)
      .execute();
    for (const { content } of rows) {
      const stored = await contentOfText(content);
      if (stored !== undefined) contents.set(stored.generationId, stored.content);
    }
    return contents;
  }

  async delete(generationIds: readonly string[]): Promise<void> {
    if (generationIds.length === 0) return;
    this.#recent.delete(generationIds);
    await this.#database.deleteFrom('spooled_contents').where('generation_id', 'in', generationIds).execute();
  }

  async prune({ beforeMs, maxBytes }: Parameters<SpooledContents['prune']>[0]): Promise<number> {
    this.#recent.prune(this.#options.clock.monotonic());
    await this.#database.deleteFrom('spooled_contents').where('stored_at_ms', '<', beforeMs).execute();
    for (;;) {
      const bytes = await this.#bytes();
      if (bytes <= maxBytes) return bytes;
      const oldest = await this.#database
        .selectFrom('spooled_contents')
        .select(['generation_id', 'bytes'])
        .orderBy('stored_at_ms')
        .orderBy('generation_id')
        .limit(REMOVED_AT_ONCE)
        .execute();
      let left = bytes;
      const removed = oldest.filter((row) => {
        if (left <= maxBytes) return false;
        left -= Number(row.bytes);
        return true;
      });
      if (removed.length === 0) return bytes;
      await this.delete(removed.map((row) => row.generation_id));
      this.#reportLost(removed.length, 'more waits to be read than there is room for');
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#writeNow();
    await this.#writing;
  }

  async #bytes(): Promise<number> {
    const row = await this.#database
      .selectFrom('spooled_contents')
      .select(sql<string | number | bigint | null>`sum(bytes)`.as('bytes'))
      .executeTakeFirst();
    return Number(row?.bytes ?? 0);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      // Requests go first.
      await nextTurn();
      const batch = this.#takeBatch();
      try {
        await this.#write(batch);
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException;
        this.#reportLost(batch.length, code ?? name);
        this.#recent.delete(batch.map(({ stored }) => stored.generationId));
      }
      for (const { characters } of batch) this.#characters -= characters;
    }
  }

  async #gather(): Promise<void> {
    if (this.#isClosed || this.#isBatchFull()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#writeNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#writeNow = () => {};
  }

  #isBatchFull(): boolean {
    return this.#waiting.length >= MAX_AT_ONCE || this.#characters >= MAX_CHARACTERS_AT_ONCE;
  }

  #takeBatch(): Waiting[] {
    let characters = 0;
    const beyond = this.#waiting.findIndex((waiting, index) => {
      characters += waiting.characters;
      return index === MAX_AT_ONCE || (index > 0 && characters > MAX_CHARACTERS_AT_ONCE);
    });
    return this.#waiting.splice(0, beyond === -1 ? this.#waiting.length : beyond);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const rows: SpooledContentRow[] = [];
    for (const { stored, characters } of batch) {
      const content = await textOfContent(stored, characters);
      rows.push({
        generation_id: stored.generationId,
        stored_at_ms: this.#options.clock.now(),
        characters,
        bytes: Buffer.byteLength(content),
        content,
      });
    }
    await this.#database
      .insertInto('spooled_contents')
      .values(rows)
      .onConflict((conflict) => conflict.column('generation_id').doNothing())
      .execute();
  }

  #reportLost(count: number, reason: string): void {
    this.#lost += count;
    this.#lostCount += count;
    const now = this.#options.clock.monotonic();
    if (now - this.#reportedAtMs < REPORT_MS) return;
    this.#reportedAtMs = now;
    this.#options.warn('prompts and answers of generations are lost to destinations and classifiers', {
      reason,
      generations: this.#lost,
    });
    this.#lost = 0;
  }
}
