import type { Annotation } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';

/** Citations in both directions. */

const WEB = 'web_search_result_location';

/** Reads a citation; undefined if it is none. */
export function readAnnotation(citation: Json | undefined): Annotation | undefined {
  if (!isJsonObject(citation) || typeof citation.type !== 'string') return undefined;
  if (citation.type !== WEB || typeof citation.url !== 'string') {
    return { type: 'opaque', dialect: 'messages', value: citation };
  }
  return {
    type: 'url-citation',
    url: citation.url,
    ...(typeof citation.title === 'string' && { title: citation.title }),
    ...(typeof citation.cited_text === 'string' && { content: citation.cited_text }),
    ...(!isMade(citation) && { ext: { messages: citation } }),
  };
}

/** Writes an annotation as a citation; undefined if this format has no such citation. */
export function renderAnnotation(annotation: Annotation): JsonObject | undefined {
  if (annotation.type === 'opaque') {
    return annotation.dialect === 'messages' ? annotation.value : undefined;
  }
  return (
    annotation.ext?.messages ?? {
      type: WEB,
      cited_text: annotation.content ?? '',
      url: annotation.url,
      title: annotation.title ?? annotation.url,
      encrypted_index: '',
    }
  );
}

/**
 * True for a citation that the gateway made from another format's: upstreams refuse it, because they did not seal its
 * index.
 */
export function isMade(citation: Json | undefined): boolean {
  return isJsonObject(citation) && citation.type === WEB && citation.encrypted_index === '';
}
