import type { EventQuery, TagQuery } from '../../../ports/events/events.ts';
import { readTags } from '../tag-columns.ts';
import type { Bind } from './driver/statement.ts';
import { listConditionSql } from './event-sql.ts';

/** What tags add to a query of events. */
export interface TagsSql {
  /** Joins to `EVENTS`. */
  readonly joins: string;
  /** What the grouping selects, in order. */
  readonly grouped: readonly string[];
  readonly conditions: readonly string[];
}

const NO_TAGS: TagsSql = { joins: '', grouped: [], conditions: [] };

/** Adds the tags of a classifier to a query; nothing if it does not read any. */
export function tagsSql({ tags, startMs, endMs }: EventQuery, bind: Bind): TagsSql {
  if (tags === undefined) return NO_TAGS;
  const own = `FROM tags WHERE classifier_id = ${bind(tags.classifierId)}
    AND created_ms >= ${bind(BigInt(startMs))} AND created_ms < ${bind(BigInt(endMs))}`;
  const joins: string[] = [];
  const names = readTags(tags);
  const columnOf = (name: string) => `t${names.indexOf(name)}`;
  if (names.length > 0) {
    const columns = names.map((name) => `max(value) FILTER (dimension = ${bind(name)}) AS ${columnOf(name)}`);
    joins.push(`LEFT JOIN (SELECT generation_id AS of_tags, ${columns.join(', ')} ${own} GROUP BY generation_id)
      ON of_tags = id`);
  }
  const conditions = tags.filters.map(({ dimension, operator, values }) =>
    listConditionSql(columnOf(dimension), operator === 'in', values.map(bind)),
  );
  const grouping = groupingSql(tags.grouping, columnOf);
  if (tags.grouping?.names === null) {
    joins.push(`LEFT JOIN (SELECT generation_id AS of_tag, dimension AS tag_name, value AS tag_value ${own})
      ON of_tag = id`);
  }
  return {
    joins: joins.join(' '),
    grouped: grouping.columns,
    conditions: [...conditions, ...grouping.conditions],
  };
}

function groupingSql(
  grouping: TagQuery['grouping'],
  columnOf: (name: string) => string,
): { readonly columns: readonly string[]; readonly conditions: readonly string[] } {
  if (grouping === null) return { columns: [], conditions: [] };
  const columns = grouping.names?.map(columnOf) ?? ['tag_name', 'tag_value'];
  return {
    columns,
    conditions: grouping.includesUntagged ? [] : columns.map((column) => `${column} IS NOT NULL`),
  };
}
