import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '../../../kit/json/json.ts';
import { keptText } from '../../../kit/text/kept-text.ts';
import {
  type AccountWriteOff,
  GenerationRefused,
  type GenerationStore,
  type SettledPosition,
  type StoredGeneration,
  type WrittenOffScope,
} from '../../../ports/generations/generations.ts';
import { UNNAMED_CAUSE, type WriteOffCause } from '../../../ports/money/write-offs.ts';
import { codeOf } from '../database-unavailable.ts';
import type { SqliteDatabase } from '../sqlite/sqlite-database.ts';
import type { GenerationTableRow, Tables } from '../tables.ts';

/** Rows per insert: both engines limit the parameters of a statement to some ten thousand. */
const ROWS_PER_STATEMENT = 100;

/** Codes of SQLite and PostgreSQL for invalid values and violated constraints. */
const VALUE_ERRORS = /^(?:SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG).*|2[23][0-9A-Z]{3})$/;

const COLUMN_BITS = 64;

/** Adds rows, all or none; rows with known ids stay as they are. */
export type InsertGenerations = (rows: readonly GenerationTableRow[]) => Promise<void>;

export class SqlGenerationStore implements GenerationStore {
  readonly #database: Kysely<Tables>;
  readonly #insert: InsertGenerations;

  constructor(database: Kysely<Tables>, insert: InsertGenerations = insertInto(database)) {
    this.#database = database;
    this.#insert = insert;
  }

  async add(generations: readonly StoredGeneration[]): Promise<void> {
    if (generations.length === 0) return;
    for (const generation of generations) assertFits(generation);
    try {
      await this.#insert(generations.map(generationRowOf));
    } catch (error) {
      if (!VALUE_ERRORS.test(codeOf(error))) throw error;
      throw new GenerationRefused('the database refuses one of the rows', error);
    }
  }

  async find(accountId: string, id: string): Promise<StoredGeneration | undefined> {
    const row = await this.#database
      .selectFrom('generations')
      .selectAll()
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    return row && generationOfRow(row);
  }

  async count(): Promise<number> {
    const { total } = await this.#database
      .selectFrom('generations')
      .select((select) => select.fn.countAll().as('total'))
      .executeTakeFirstOrThrow();
    return Number(total);
  }

  async settledAfter({ settledAtMs, id }: SettledPosition, limit: number): Promise<StoredGeneration[]> {
    const rows = await this.#database
      .selectFrom('generations')
      .selectAll()
      .where(sql<boolean>`(settled_at_ms, id) > (${settledAtMs}, ${id})`)
      .orderBy('settled_at_ms')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(generationOfRow);
  }

  async writtenOff({ accountId, keyHash, fromMs, toMs }: WrittenOffScope): Promise<AccountWriteOff[]> {
    const rows = await this.#database
      .selectFrom('generations')
      .select(['account_id', 'written_off_cause'])
      .select(sql<string>`cast(sum(written_off_nanos) as text)`.as('nanos'))
      // The condition of the index.
      .where(sql<boolean>`written_off_nanos > 0`)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
      .$if(keyHash !== undefined, (query) => query.where('key_hash', '=', keyHash ?? ''))
      .$if(fromMs !== undefined, (query) => query.where('settled_at_ms', '>=', fromMs ?? 0))
      .$if(toMs !== undefined, (query) => query.where('settled_at_ms', '<', toMs ?? 0))
      .groupBy(['account_id', 'written_off_cause'])
      .orderBy(sql`sum(written_off_nanos)`, 'desc')
      .execute();
    return rows.map(({ account_id, written_off_cause, nanos }) => ({
      accountId: account_id,
      cause: (written_off_cause as WriteOffCause | null) ?? UNNAMED_CAUSE,
      nanos: BigInt(nanos),
    }));
  }

  async prune(beforeMs: number, limit: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('generations')
      .where('id', 'in', (select) =>
        select
          .selectFrom('generations')
          .select('id')
          .where('settled_at_ms', '<', beforeMs)
          .orderBy('settled_at_ms')
          .limit(limit),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

function insertInto(database: Kysely<Tables>): InsertGenerations {
  return (rows) =>
    database.transaction().execute(async (transaction) => {
      for (let index = 0; index < rows.length; index += ROWS_PER_STATEMENT) {
        await transaction
          .insertInto('generations')
          .values(rows.slice(index, index + ROWS_PER_STATEMENT))
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
      }
    });
}

const COLUMNS = [
  'id',
  'account_id',
  'workspace_id',
  'key_hash',
  'settled_at_ms',
  'credit_nanos',
  'byok_nanos',
  'written_off_nanos',
  'written_off_cause',
  'details',
] as const satisfies readonly (keyof GenerationTableRow)[];

const INSERT = `insert into generations (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})
  on conflict (id) do nothing`;

/** Rows of generations in the embedded database, with a prepared insert: every request adds a row. */
export function sqliteGenerationStore(database: SqliteDatabase): SqlGenerationStore {
  return new SqlGenerationStore(database, (rows) =>
    database.runForEach(
      INSERT,
      rows.map((row) => COLUMNS.map((name) => row[name])),
    ),
  );
}

/** Checked here, because an engine may accept a number that does not fit its column and store another one. */
function assertFits({ id, settledAtMs, charge, writtenOffNanos }: StoredGeneration): void {
  const amounts = [charge.creditNanos, charge.byokNanos, writtenOffNanos];
  if (Number.isSafeInteger(settledAtMs) && amounts.every(fits)) return;
  throw new GenerationRefused(`an amount or the time of ${id} is more than a column holds`);
}

function fits(amount: bigint): boolean {
  return BigInt.asIntN(COLUMN_BITS, amount) === amount;
}

export function generationRowOf({
  id,
  scopes,
  settledAtMs,
  charge,
  writtenOffNanos,
  writtenOffCause,
  row,
}: StoredGeneration): GenerationTableRow {
  return {
    id,
    account_id: scopes.account,
    workspace_id: scopes.workspace,
    key_hash: scopes.key,
    settled_at_ms: settledAtMs,
    credit_nanos: charge.creditNanos,
    byok_nanos: charge.byokNanos,
    written_off_nanos: writtenOffNanos,
    written_off_cause: writtenOffCause,
    // The journal has made this text already.
    details: keptText(row, JSON.stringify),
  };
}

export function generationOfRow(row: GenerationTableRow): StoredGeneration {
  return {
    id: row.id,
    scopes: { account: row.account_id, workspace: row.workspace_id, key: row.key_hash },
    settledAtMs: Number(row.settled_at_ms),
    charge: { creditNanos: BigInt(row.credit_nanos), byokNanos: BigInt(row.byok_nanos) },
    writtenOffNanos: BigInt(row.written_off_nanos),
    writtenOffCause: row.written_off_cause as WriteOffCause | null,
    row: JSON.parse(row.details) as JsonObject,
  };
}
