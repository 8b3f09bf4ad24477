import { type Kysely, sql, type Transaction } from 'kysely';
import type {
  Classification,
  ClassificationPage,
  ClassificationStore,
} from '../../../ports/following/classifiers.ts';
import type { ClassificationRow, Tables } from '../tables.ts';
import { transact } from '../transact.ts';

export class SqlClassificationStore implements ClassificationStore {
  readonly #database: Kysely<Tables>;

  constructor(database: Kysely<Tables>) {
    this.#database = database;
  }

  /** The row of the last place is locked until the commit, so that places become visible in their order. */
  async add(classifications: readonly Classification[]): Promise<void> {
    if (classifications.length === 0) return;
    await transact(
      this.#database,
      async (transaction) => {
        const last = await takePlaces(transaction, classifications.length);
        const first = last - classifications.length + 1;
        await transaction
          .insertInto('classifications')
          .values(classifications.map((one, index) => rowOf(one, first + index)))
          .onConflict((conflict) => conflict.columns(['classifier_id', 'generation_id']).doNothing())
          .execute();
      },
      'read committed',
    );
  }

  async classified(classifierId: string, generationIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (generationIds.length === 0) return new Set();
    const rows = await this.#database
      .selectFrom('classifications')
      .select('generation_id')
      .where('classifier_id', '=', classifierId)
      .where('generation_id', 'in', generationIds)
      .execute();
    return new Set(rows.map(({ generation_id }) => generation_id));
  }

  async behind(place: number, limit: number): Promise<ClassificationPage> {
    const rows = await this.#database
      .selectFrom('classifications')
      .selectAll()
      .where('place', '>', place)
      .orderBy('place')
      .limit(limit)
      .execute();
    return { classifications: rows.map(classificationOf), place: Number(rows.at(-1)?.place ?? place) };
  }

  async end(): Promise<number> {
    const row = await this.#database.selectFrom('classification_places').select('last').executeTakeFirst();
    return Number(row?.last ?? 0);
  }

  async lastProblem(classifierId: string): Promise<Classification | undefined> {
    const row = await this.#database
      .selectFrom('classifications')
      .selectAll()
      .where('classifier_id', '=', classifierId)
      .where('problem', 'is not', null)
      .orderBy('place', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && classificationOf(row);
  }

  async prune(beforeMs: number): Promise<number> {
    const { numDeletedRows } = await this.#database
      .deleteFrom('classifications')
      .where('created_at_ms', '<', beforeMs)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }
}

/** Takes so many places. Resolves with the last of them. */
async function takePlaces(transaction: Transaction<Tables>, count: number): Promise<number> {
  const { last } = await transaction
    .insertInto('classification_places')
    .values({ id: 1, last: count })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ last: sql<number>`classification_places.last + excluded.last` }),
    )
    .returning('last')
    .executeTakeFirstOrThrow();
  return Number(last);
}

function rowOf(classification: Classification, place: number): ClassificationRow {
  return {
    place,
    classifier_id: classification.classifierId,
    generation_id: classification.generationId,
    created_at_ms: classification.createdAtMs,
    tags: JSON.stringify(classification.tags),
    problem: classification.problem,
    classified_at_ms: classification.classifiedAtMs,
  };
}

function classificationOf(row: ClassificationRow): Classification {
  return {
    classifierId: row.classifier_id,
    generationId: row.generation_id,
    createdAtMs: Number(row.created_at_ms),
    tags: JSON.parse(row.tags) as Record<string, string>,
    problem: row.problem,
    classifiedAtMs: Number(row.classified_at_ms),
  };
}
