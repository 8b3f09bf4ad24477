import { runInTurns } from '../../../kit/loop/turns.ts';
import type { ClassifierTag } from '../../../ports/following/classifiers.ts';
import type { ClickhouseClient } from './driver/clickhouse-client.ts';
import { fieldOf, literalOf, type TextRow } from './driver/tab-separated.ts';
import { linesByMonth } from './insert-events.ts';
import { TAG_COLUMNS, TAGS } from './schema.ts';

/** Tags per statement: the list of their generations stays far below the longest statement. */
const SLICE_TAGS = 2_000;

/**
 * Inserts the tags that are not known: what is inserted twice is dropped when its parts are merged, but gateways that
 * share the tables each insert what one of them has written.
 */
export async function insertTags(client: ClickhouseClient, tags: readonly ClassifierTag[]): Promise<void> {
  for (let begin = 0; begin < tags.length; begin += SLICE_TAGS) {
    const slice = tags.slice(begin, begin + SLICE_TAGS);
    const stored = new Set((await client.query(knownSql(slice))).map(keyOf));
    const fresh = slice.filter((tag) => !stored.has(keyOf(identityOf(tag))));
    for (const lines of (await runInTurns(linesByMonth(fresh, lineOf))).values()) {
      await client.insert(TAGS, TAG_COLUMNS, `${lines.join('\n')}\n`);
    }
  }
}

/** What a tag is known by: the columns that `knownSql` selects. */
function identityOf({ classifierId, generationId, dimension }: ClassifierTag): TextRow {
  return [classifierId, generationId, dimension];
}

function keyOf(identity: TextRow): string {
  return JSON.stringify(identity);
}

/** In the order of `TAG_COLUMNS`. */
function lineOf(tag: ClassifierTag): string {
  return [...identityOf(tag), tag.value, tag.createdAtMs].map(fieldOf).join('\t');
}

/** Selects which of some tags are stored, by classifier and time, which the table is sorted by. */
function knownSql(tags: readonly ClassifierTag[]): string {
  const listed = (of: (tag: ClassifierTag) => string) => [...new Set(tags.map(of))].map(literalOf).join(', ');
  const moments = tags.map(({ createdAtMs }) => createdAtMs);
  return `SELECT classifier_id, generation_id, dimension FROM ${TAGS}
    WHERE classifier_id IN (${listed(({ classifierId }) => classifierId)})
    AND created_ms >= ${Math.min(...moments)} AND created_ms <= ${Math.max(...moments)}
    AND generation_id IN (${listed(({ generationId }) => generationId)})`;
}
