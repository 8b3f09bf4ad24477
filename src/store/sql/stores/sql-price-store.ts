import type { Kysely } from 'kysely';
import type { PriceRow, PriceStore } from '../../../ports/upstreams/prices.ts';
import type { EndpointPriceRow, Tables } from '../tables.ts';

/** Rows of one statement: each has six parameters, and engines limit their number. */
const ROWS_PER_STATEMENT = 500;

export class SqlPriceStore implements PriceStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  async newest(): Promise<readonly PriceRow[]> {
    const rows = await this.#database
      .selectFrom('endpoint_prices as row')
      .selectAll()
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('endpoint_prices as later')
              .select('later.model')
              .whereRef('later.model', '=', 'row.model')
              .whereRef('later.endpoint', '=', 'row.endpoint')
              .whereRef('later.member', '=', 'row.member')
              .whereRef('later.min_prompt_tokens', '=', 'row.min_prompt_tokens')
              .whereRef('later.since_ms', '>', 'row.since_ms'),
          ),
        ),
      )
      .execute();
    return rows.map(priceOf);
  }

  async add(rows: readonly PriceRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      await this.#database
        .insertInto('endpoint_prices')
        .values(rows.slice(from, from + ROWS_PER_STATEMENT).map(rowOf))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }

  async list(model?: string): Promise<readonly PriceRow[]> {
    let query = this.#database.selectFrom('endpoint_prices').selectAll();
    if (model !== undefined) query = query.where('model', '=', model);
    const rows = await query
      .orderBy('model')
      .orderBy('endpoint')
      .orderBy('member')
      .orderBy('min_prompt_tokens')
      .orderBy('since_ms')
      .execute();
    return rows.map(priceOf);
  }
}

function rowOf({ model, endpoint, member, minPromptTokens, sinceMs, price }: PriceRow): EndpointPriceRow {
  return { model, endpoint, member, min_prompt_tokens: minPromptTokens, since_ms: sinceMs, price };
}

function priceOf(row: EndpointPriceRow): PriceRow {
  return {
    model: row.model,
    endpoint: row.endpoint,
    member: row.member,
    minPromptTokens: Number(row.min_prompt_tokens),
    sinceMs: Number(row.since_ms),
    price: row.price,
  };
}
