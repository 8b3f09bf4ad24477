import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json.ts';
import { numberAt, objectAt, textAt } from '../../kit/members.ts';

/** Sources of an answer, both ways. */

export function readAnnotation(value: JsonObject): Annotation {
  const citation = objectAt(value, 'url_citation');
  const url = textAt(citation, 'url');
  if (value.type !== 'url_citation' || url === undefined) return { type: 'opaque', dialect: 'chat', value };
  const [title, content] = [textAt(citation, 'title'), textAt(citation, 'content')];
  const [startIndex, endIndex] = [numberAt(citation, 'start_index'), numberAt(citation, 'end_index')];
  return {
    type: 'url-citation',
    url,
    ...(title !== undefined && { title }),
    ...(startIndex !== undefined && { startIndex }),
    ...(endIndex !== undefined && { endIndex }),
    ...(content !== undefined && { content }),
  };
}

/** Clients want every member of a citation but its content. An annotation of another format is left out. */
export function renderAnnotation(annotation: Annotation): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.dialect === 'chat' ? annotation.value : undefined;
  return {
    type: 'url_citation',
    url_citation: {
      url: annotation.url,
      title: annotation.title ?? '',
      start_index: annotation.startIndex ?? 0,
      end_index: annotation.endIndex ?? 0,
      ...(annotation.content !== undefined && { content: annotation.content }),
    },
  };
}
