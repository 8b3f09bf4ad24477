import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, membersBeyond, numberAt, stringAt } from '../../kit/json/members.ts';

/** Citations in both directions. */

const CITATION_FIELDS = new Set(['type', 'url', 'title', 'start_index', 'end_index', 'content']);

export function readAnnotation(value: JsonObject): Annotation {
  const url = stringAt(value, 'url');
  if (value.type !== 'url_citation' || url === undefined) {
    return { type: 'opaque', dialect: 'responses', value };
  }
  const rest = membersBeyond(value, CITATION_FIELDS);
  return compact({
    type: 'url-citation',
    url,
    title: stringAt(value, 'title'),
    startIndex: numberAt(value, 'start_index'),
    endIndex: numberAt(value, 'end_index'),
    content: stringAt(value, 'content'),
    ext: rest && { responses: rest },
  });
}

/**
 * Writes an annotation of a text; those of other dialects are left out. One without a position covers the whole text:
 * formats without positions cite by block.
 */
export function renderAnnotation(annotation: Annotation, text: string): JsonObject[] {
  if (annotation.type === 'opaque') {
    return annotation.dialect === 'responses' ? [annotation.value] : [];
  }
  return [
    compact({
      type: 'url_citation',
      url: annotation.url,
      title: annotation.title ?? '',
      start_index: annotation.startIndex ?? 0,
      end_index: annotation.endIndex ?? text.length,
      content: annotation.content,
      ...annotation.ext?.responses,
    }),
  ];
}
