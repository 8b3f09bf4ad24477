import { type Kysely, sql } from 'kysely';
import type { RowPlace, RowRange, SettledPage, SettledRows } from '../../ports/following/settled-rows.ts';
import { generationOfRow } from '../sql/stores/sql-generation-store.ts';
import type { Tables } from '../sql/tables.ts';
import { transact } from '../sql/transact.ts';

/** Rows of the embedded database. A place is the number of the last row before it. */
export class SqliteSettledRows implements SettledRows {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  begin(workspaceId: string, sinceMs: number): Promise<RowPlace> {
    return transact(this.#database, async (transaction) => {
      const { numInsertedOrUpdatedRows: added } = await transaction
        .insertInto('followed_workspaces')
        .values({ workspace_id: workspaceId })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (Number(added ?? 0) > 0) {
        await sql`
          insert into followed_generations (generation_id, workspace_id)
          select id, workspace_id from generations
          where settled_at_ms >= ${sinceMs} and workspace_id = ${workspaceId}
          order by settled_at_ms, id`.execute(transaction);
      }
      const first = await transaction
        .selectFrom('followed_generations')
        .innerJoin('generations', 'generations.id', 'followed_generations.generation_id')
        .select('sequence')
        .where('followed_generations.workspace_id', '=', workspaceId)
        .where('settled_at_ms', '>=', sinceMs)
        .orderBy('sequence')
        .limit(1)
        .executeTakeFirst();
      return first === undefined ? endOf(transaction) : String(Number(first.sequence) - 1);
    });
  }

  end(): Promise<RowPlace> {
    return endOf(this.#database);
  }

  async read({ workspaceId, behind, until }: RowRange, limit: number): Promise<SettledPage> {
    const rows = await this.#database
      .selectFrom('followed_generations')
      .innerJoin('generations', 'generations.id', 'followed_generations.generation_id')
      .selectAll('generations')
      .select('sequence')
      .where('followed_generations.workspace_id', '=', workspaceId)
      .where('sequence', '>', Number(behind))
      .where('sequence', '<=', Number(until))
      .orderBy('sequence')
      .limit(limit)
      .execute();
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      generations: rows.map(generationOfRow),
      place: last === undefined ? until : String(last.sequence),
    };
  }

  async count({ workspaceId, behind, until }: RowRange, atMost: number): Promise<number> {
    const { total } = await this.#database
      .selectFrom((from) =>
        from
          .selectFrom('followed_generations')
          .select('sequence')
          .where('workspace_id', '=', workspaceId)
          .where('sequence', '>', Number(behind))
          .where('sequence', '<=', Number(until))
          .limit(atMost)
          .as('waiting'),
      )
      .select(({ fn }) => fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    return Number(total);
  }

  async skip({ workspaceId, behind, until }: RowRange, count: number): Promise<RowPlace> {
    if (count === 0) return behind;
    const last = await this.#database
      .selectFrom('followed_generations')
      .select('sequence')
      .where('workspace_id', '=', workspaceId)
      .where('sequence', '>', Number(behind))
      .where('sequence', '<=', Number(until))
      .orderBy('sequence')
      .limit(1)
      .offset(count - 1)
      .executeTakeFirst();
    return last === undefined ? until : String(last.sequence);
  }

  async release(places: ReadonlyMap<string, readonly RowPlace[]>): Promise<void> {
    const followed = [...places.keys()];
    await transact(this.#database, async (transaction) => {
      for (const table of ['followed_workspaces', 'followed_generations'] as const) {
        await transaction
          .deleteFrom(table)
          .$if(followed.length > 0, (query) => query.where('workspace_id', 'not in', followed))
          .execute();
      }
      for (const [workspaceId, ofFollowers] of places) {
        await transaction
          .deleteFrom('followed_generations')
          .where('workspace_id', '=', workspaceId)
          .where('sequence', '<=', Math.min(...ofFollowers.map(Number)))
          .execute();
      }
    });
  }
}

async function endOf(database: Kysely<Tables>): Promise<RowPlace> {
  const row = await database
    .selectFrom('sqlite_sequence')
    .select('seq')
    .where('name', '=', 'followed_generations')
    .executeTakeFirst();
  return String(row?.seq ?? 0);
}
