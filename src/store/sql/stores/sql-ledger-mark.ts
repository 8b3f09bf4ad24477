import type { Kysely } from 'kysely';
import type { LedgerMark } from '../../../ports/money/ledger-mark.ts';
import type { Tables } from '../tables.ts';

const NAME = 'ledger_sequence';

export class SqlLedgerMark implements LedgerMark {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async read(): Promise<number> {
    const row = await this.#database
      .selectFrom('installation')
      .select('value')
      .where('name', '=', NAME)
      .executeTakeFirst();
    return Number(row?.value ?? 0);
  }

  async write(sequence: number): Promise<void> {
    const value = String(sequence);
    await this.#database
      .insertInto('installation')
      .values({ name: NAME, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}
