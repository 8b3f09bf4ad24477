import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, numberAt, objectAt, textAt } from '../../kit/json/members.ts';

/** Sources of an answer, both ways. */

/** Reads a citation of the part that begins at `start` of the content. One of an earlier place is of no known span. */
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

/** Where the text of a part stands in the content of the whole answer. */
export interface Span {
  readonly start: number;
  readonly length: number;
}

/**
 * Clients want every member of a citation but its content. One that does not say what it is about is about the whole
 * part. An annotation of another format is left out.
 */
export function renderAnnotation(annotation: Annotation, { start, length }: Span): JsonObject[] {
  if (annotation.type === 'opaque') return annotation.dialect === 'chat' ? [annotation.value] : [];
  const { url, title = '', startIndex = 0, endIndex = length, content } = annotation;
  const citation = { url, title, start_index: start + startIndex, end_index: start + endIndex, content };
  return [{ type: 'url_citation', url_citation: compact(citation) }];
}

function shifted(index: number | undefined, by: number): number | undefined {
  return index === undefined ? undefined : index + by;
}
