import type { EventQuery, TagQuery } from '../../../ports/events/events.ts';
import { readTags } from '../tag-columns.ts';
import { literalOf } from './driver/tab-separated.ts';
import { TAGS } from './schema.ts';

/** What tags add to a query of events. */
export interface TagsSql {
  readonly source: string;
  /** What the grouping selects, in order. */
  readonly grouped: readonly string[];
  readonly conditions: readonly string[];
}

/**
 * Adds the tags of a classifier to a source of events. The columns of tags are nullable: an event without one has NULL
 * there, whatever the server's `join_use_nulls`. No value is empty.
 */
export function withTags(
  source: string,
  tags: TagQuery,
  { startMs, endMs }: Pick<EventQuery, 'startMs' | 'endMs'>,
): TagsSql {
  const own = `FROM ${TAGS} FINAL WHERE classifier_id = ${literalOf(tags.classifierId)}
    AND created_ms >= ${startMs} AND created_ms < ${endMs}`;
  const names = readTags(tags);
  const columnOf = (name: string) => `t${names.indexOf(name)}`;
  const joins: string[] = [];
  if (names.length > 0) {
    const columns = names.map(
      (name) => `nullIf(maxIf(value, dimension = ${literalOf(name)}), '') AS ${columnOf(name)}`,
    );
    joins.push(`SELECT generation_id AS id, ${columns.join(', ')} ${own} GROUP BY generation_id`);
  }
  if (tags.grouping?.names === null) {
    joins.push(
      `SELECT generation_id AS id, toNullable(dimension) AS tag_name, toNullable(value) AS tag_value ${own}`,
    );
  }
  const grouped =
    tags.grouping === null ? [] : (tags.grouping.names?.map(columnOf) ?? ['tag_name', 'tag_value']);
  return {
    source: joins.reduce(
      (joined, tagged) => `(SELECT * FROM ${joined} ALL LEFT JOIN (${tagged}) USING id)`,
      source,
    ),
    grouped,
    conditions: [
      ...tags.filters.map((filter) => filterSql(columnOf(filter.dimension), filter)),
      ...(tags.grouping?.includesUntagged === true ? [] : grouped.map((column) => `isNotNull(${column})`)),
    ],
  };
}

/** SQL has no empty lists. */
function filterSql(column: string, { operator, values }: TagQuery['filters'][number]): string {
  const isWithin = operator === 'in';
  if (values.length === 0) return isWithin ? '0' : `isNotNull(${column})`;
  const literals = values.map(literalOf).join(', ');
  return `isNotNull(${column}) AND ${column} ${isWithin ? 'IN' : 'NOT IN'} (${literals})`;
}
