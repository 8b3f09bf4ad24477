import { type Kysely, sql } from 'kysely';
import type { ImportedUsage, UsageSlice } from '../../../ports/events/imported-usage.ts';
import type { Tables } from '../tables.ts';

/** Limit of all slices together. */
export const MAX_IMPORT_CHARACTERS = 1024 ** 3;

export class SqlImportedUsage implements ImportedUsage {
  readonly #database: Kysely<Tables>;
  readonly #maxCharacters: number;

  constructor(database: Kysely<Tables>, maxCharacters: number) {
    this.#database = database;
    this.#maxCharacters = maxCharacters;
  }

  async ids(): Promise<readonly string[]> {
    const rows = await this.#database
      .selectFrom('imported_usage')
      .select('id')
      .orderBy('imported_at_ms')
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  async read(id: string): Promise<UsageSlice | undefined> {
    const row = await this.#database
      .selectFrom('imported_usage')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { events, last_event_ms, content } = row;
    return { id, events: Number(events), lastEventMs: Number(last_event_ms), content };
  }

  async add({ id, events, lastEventMs, content }: UsageSlice, atMs: number): Promise<void> {
    await this.#database
      .insertInto('imported_usage')
      .values({ id, imported_at_ms: atMs, last_event_ms: lastEventMs, events, content })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }

  async prune(beforeMs: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('imported_usage')
      .where('last_event_ms', '<', beforeMs)
      .executeTakeFirst();
    return Number(numDeletedRows);
  }

  async dropOldest(): Promise<number> {
    const { rows } = await sql<{ id: string; characters: number | bigint | string }>`
      select id, length(content) as characters from imported_usage
      order by imported_at_ms desc, id desc`.execute(this.#database);
    let characters = 0;
    const dropped = rows.flatMap((row) => {
      characters += Number(row.characters);
      return characters > this.#maxCharacters ? [row.id] : [];
    });
    for (const id of dropped) {
      await this.#database.deleteFrom('imported_usage').where('id', '=', id).execute();
    }
    return dropped.length;
  }
}
