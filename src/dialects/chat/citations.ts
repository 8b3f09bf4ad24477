import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, objectAt, textAt } from '../../kit/json/members.ts';

/** Citations in both directions. */

/** Reads a citation. `start`: where its part begins in the whole content. A citation of earlier text gets no span. */
export function readAnnotation(value: JsonObject, start: number): Annotation {
  const citation = objectAt(value, 'url_citation');
  const url = textAt(citation, 'url');
  if (value.type !== 'url_citation' || url === undefined) return { type: 'opaque', dialect: 'chat', value };
  const [title, content] = [textAt(citation, 'title'), textAt(citation, 'content')];
  const [from, to] = [numberAt(citation, 'start_index'), numberAt(citation, 'end_index')];
  const isHere = (from ?? to ?? start) >= start;
  const [startIndex, endIndex] = isHere ? [shifted(from, -start), shifted(to, -start)] : [];
  return {
    type: 'url-citation',
    url,
    ...(title !== undefined && { title }),
    ...(startIndex !== undefined && { startIndex }),
    ...(endIndex !== undefined && { endIndex }),
    ...(content !== undefined && { content }),
  };
}

/** Position of a part's text in the whole answer. */
export interface TextSpan {
  readonly start: number;
  readonly length: number;
}

/**
 * Clients expect every member of a citation but its content. A citation without a span covers the whole part.
 * Annotations of other formats are left out.
 */
export function renderAnnotation(annotation: Annotation, { start, length }: TextSpan): JsonObject[] {
  if (annotation.type === 'opaque') return annotation.dialect === 'chat' ? [annotation.value] : [];
  const { url, title = '', startIndex = 0, endIndex = length, content } = annotation;
  const citation = { url, title, start_index: start + startIndex, end_index: start + endIndex, content };
  return [{ type: 'url_citation', url_citation: compact(citation) }];
}

function shifted(index: number | undefined, by: number): number | undefined {
  return index === undefined ? undefined : index + by;
}
