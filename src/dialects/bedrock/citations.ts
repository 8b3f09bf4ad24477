import type { Annotation } from '../../ir/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';

/** Kinds of positions in the caller's content, with their names in the messages format. */
const LOCATIONS = [
  {
    member: 'documentChar',
    type: 'char_location',
    index: ['documentIndex', 'document_index'],
    start: 'start_char_index',
    end: 'end_char_index',
  },
  {
    member: 'documentPage',
    type: 'page_location',
    index: ['documentIndex', 'document_index'],
    start: 'start_page_number',
    end: 'end_page_number',
  },
  {
    member: 'documentChunk',
    type: 'content_block_location',
    index: ['documentIndex', 'document_index'],
    start: 'start_block_index',
    end: 'end_block_index',
  },
  {
    member: 'searchResultLocation',
    type: 'search_result_location',
    index: ['searchResultIndex', 'search_result_index'],
    start: 'start_block_index',
    end: 'end_block_index',
  },
] as const;

/**
 * Reads a citation; undefined if it is none. Positions in the caller's own documents get the names of the messages
 * format, the only format of callers that has such citations.
 */
export function readAnnotation(citation: Json | undefined): Annotation | undefined {
  if (!isJsonObject(citation)) return undefined;
  const title = textAt(citation, 'title');
  const content = objectsAt(citation, 'sourceContent')
    .map((part) => textAt(part, 'text') ?? '')
    .join('');
  const location = objectAt(citation, 'location');
  const url = textAt(objectAt(location, 'web'), 'url');
  if (url !== undefined) {
    return {
      type: 'url-citation',
      url,
      ...(title !== undefined && { title }),
      ...(content !== '' && { content }),
    };
  }
  const value = ownPlace(location, title ?? null, content, textAt(citation, 'source'));
  return value === undefined
    ? { type: 'opaque', dialect: 'bedrock', value: citation }
    : { type: 'opaque', dialect: 'messages', value };
}

function ownPlace(
  location: JsonObject | undefined,
  title: string | null,
  citedText: string,
  source: string | undefined,
): JsonObject | undefined {
  const kind = LOCATIONS.find(({ member }) => objectAt(location, member) !== undefined);
  if (kind === undefined) return undefined;
  const place = objectAt(location, kind.member);
  const [index, wireIndex] = kind.index;
  const isDocument = index === 'documentIndex';
  return {
    type: kind.type,
    cited_text: citedText,
    [wireIndex]: numberAt(place, index) ?? 0,
    ...(isDocument ? { document_title: title, file_id: null } : { title, source: source ?? '' }),
    [kind.start]: numberAt(place, 'start') ?? 0,
    [kind.end]: numberAt(place, 'end') ?? 0,
  };
}
