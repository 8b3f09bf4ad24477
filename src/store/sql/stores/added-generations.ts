import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { GenerationPage, OrderedGenerations } from '../../../ports/following/ordered-generations.ts';
import type { RowPlace } from '../../../ports/following/settled-rows.ts';
import type { StoredGeneration } from '../../../ports/generations/generations.ts';
import type { GenerationTableRow, RefusedRequestRow, Tables } from '../tables.ts';
import { generationOfRow } from './sql-generation-store.ts';
import { generationOfRefused } from './sql-refused-requests.ts';

/** A row that was reached. */
interface AddedPlace {
  readonly number: number;
  readonly id: string;
}

/**
 * Rows of the embedded database in the order in which they were added, which is that of their rowids: only one
 * connection writes. SQLite gives the highest rowids again once their rows are deleted, and may change them all when it
 * copies a database. A place therefore names its row: it is valid as long as this row has this number, because lower
 * numbers are not given meanwhile.
 */
export class AddedGenerations implements OrderedGenerations {
  readonly #database: Kysely<Tables>;
  readonly #table: 'generations';
  readonly #rowid: RawBuilder<number>;
  readonly #ofRow: (row: GenerationTableRow) => StoredGeneration;

  constructor(
    database: Kysely<Tables>,
    table: string = 'generations',
    ofRow: (row: GenerationTableRow) => StoredGeneration = generationOfRow,
  ) {
    this.#database = database;
    // Nothing else depends on the columns: both tables have an id.
    this.#table = table as 'generations';
    this.#rowid = sql<number>`${sql.ref(`${table}.rowid`)}`;
    this.#ofRow = ofRow;
  }

  /** The same of refused requests. */
  static ofRefused(database: Kysely<Tables>): AddedGenerations {
    const ofRow = (row: unknown) => generationOfRefused(row as RefusedRequestRow);
    return new AddedGenerations(database, 'refused_requests', ofRow);
  }

  async end(): Promise<RowPlace | null> {
    const last = await this.#database
      .selectFrom(this.#table)
      .select(['id', this.#rowid.as('number')])
      .orderBy(this.#rowid, 'desc')
      .limit(1)
      .executeTakeFirst();
    return last === undefined ? null : textOf({ number: Number(last.number), id: last.id });
  }

  async behind(place: RowPlace | null, limit: number): Promise<GenerationPage | undefined> {
    if (place === null) return this.#pageFrom(Number.MIN_SAFE_INTEGER, limit, place);
    const { number, id } = placeOf(place);
    const page = await this.#pageFrom(number, limit + 1, place);
    const [reached, ...generations] = page.generations;
    return reached?.id === id ? { ...page, generations } : undefined;
  }

  /** Rows that were known before have no number behind the place; then the last one is not where it would be. */
  async endOf(
    place: RowPlace | null,
    added: readonly { readonly id: string }[],
  ): Promise<RowPlace | undefined> {
    if (place === null) return undefined;
    const { number, id } = placeOf(place);
    const end = { number: number + added.length, id: added.at(-1)?.id ?? id };
    const rows = await this.#database
      .selectFrom(this.#table)
      .select(['id', this.#rowid.as('number')])
      .where(this.#rowid, 'in', [number, end.number])
      .execute();
    const found = new Map(rows.map((row) => [Number(row.number), row.id]));
    return found.get(number) === id && found.get(end.number) === end.id ? textOf(end) : undefined;
  }

  /** About how many generations are behind a place: their numbers have gaps where rows were deleted. */
  async count(place: RowPlace | null): Promise<number> {
    const end = await this.end();
    if (end === null) return 0;
    return Math.max(0, placeOf(end).number - (place === null ? 0 : placeOf(place).number));
  }

  async #pageFrom(number: number, limit: number, place: RowPlace | null): Promise<GenerationPage> {
    const rows = await this.#database
      .selectFrom(this.#table)
      .selectAll()
      .select(this.#rowid.as('number'))
      .where(this.#rowid, '>=', number)
      .orderBy(this.#rowid)
      .limit(limit)
      .execute();
    const last = rows.at(-1);
    return {
      generations: rows.map(this.#ofRow),
      place: last === undefined ? place : textOf({ number: Number(last.number), id: last.id }),
    };
  }
}

function textOf({ number, id }: AddedPlace): RowPlace {
  return JSON.stringify([number, id]);
}

function placeOf(place: RowPlace): AddedPlace {
  const [number, id] = JSON.parse(place) as [number, string];
  return { number, id };
}
