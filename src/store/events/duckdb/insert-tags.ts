import type { ClassifierTag } from '../../../ports/following/classifiers.ts';
import type { DuckdbThread } from './driver/duckdb-thread.ts';
import { plain } from './driver/statement.ts';
import { PRUNED_BEFORE, TAG_COLUMNS } from './schema.ts';

const STAGED = 'staged_tags';

const SLICE_TAGS = 1_000;

const MAKE_STAGED = `CREATE OR REPLACE TEMP TABLE ${STAGED} (generation_id VARCHAR, classifier_id VARCHAR,
  dimension VARCHAR, value VARCHAR, created_ms DOUBLE)`;

/** Searches known tags among those of the same time, which lie together. */
const INSERT = `INSERT INTO tags (${TAG_COLUMNS.join(', ')})
  SELECT DISTINCT ON (generation_id, classifier_id, dimension) generation_id, classifier_id, dimension, value,
    created_ms::BIGINT
  FROM ${STAGED} ANTI JOIN (
    SELECT generation_id, classifier_id, dimension FROM tags
    WHERE created_ms BETWEEN (SELECT min(created_ms) FROM ${STAGED}) AND (SELECT max(created_ms) FROM ${STAGED})
  ) AS known USING (generation_id, classifier_id, dimension)
  WHERE created_ms >= (${PRUNED_BEFORE})`;

/** Inserts the tags that are not known and not older than the last pruning. */
export async function insertTags(thread: DuckdbThread, tags: readonly ClassifierTag[]): Promise<void> {
  await thread.run(plain(MAKE_STAGED));
  for (let begin = 0; begin < tags.length; begin += SLICE_TAGS) {
    const slice = tags.slice(begin, begin + SLICE_TAGS);
    await thread.stage(STAGED, [
      slice.map(({ generationId }) => generationId),
      slice.map(({ classifierId }) => classifierId),
      slice.map(({ dimension }) => dimension),
      slice.map(({ value }) => value),
      Float64Array.from(slice, ({ createdAtMs }) => createdAtMs),
    ]);
  }
  await thread.transact([plain(INSERT)]);
}
