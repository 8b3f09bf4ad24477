import {
  type EventOrder,
  type EventQuery,
  TAG_PLACES,
  type TagPlace,
  type TagQuery,
} from '../../ports/events/events.ts';

/** How many values a row has for dimensions, those of tags included. */
export function groupedValues({ dimensions, tags }: Pick<EventQuery, 'dimensions' | 'tags'>): number {
  return dimensions.length + groupedTags(tags);
}

/** The column of each of these values: `d0`, `d1` and so on. */
export function dimensionColumns(query: Pick<EventQuery, 'dimensions' | 'tags'>): string[] {
  return Array.from({ length: groupedValues(query) }, (_, index) => `d${index}`);
}

/** How many dimensions tags add. Without names: that of the dimension, and its value. */
function groupedTags(tags: TagQuery | undefined): number {
  if (tags?.grouping == null) return 0;
  return tags.grouping.names?.length ?? 2;
}

/** The place of the dimension that rows are in order of, among those of a row; -1 = it is none. */
export function orderedPlace(
  { dimensions }: Pick<EventQuery, 'dimensions'>,
  field: EventOrder['field'],
): number {
  const ofTags = TAG_PLACES.indexOf(field as TagPlace);
  return ofTags === -1 ? (dimensions as readonly string[]).indexOf(field) : dimensions.length + ofTags;
}

/** The dimensions of a classifier that a query reads as a column each, each once. */
export function readTags({ grouping, filters }: TagQuery): readonly string[] {
  return [...new Set([...(grouping?.names ?? []), ...filters.map(({ dimension }) => dimension)])];
}
