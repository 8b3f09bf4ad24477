import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/members.ts';

/**
 * Sources that a candidate names for its text: pages that the upstream searched (`groundingMetadata`) and works that the
 * text repeats (`citationMetadata`). Their places are counted in bytes on the wire, in characters everywhere else.
 */
export class Citations {
  /** A later one holds what an earlier one did. */
  #grounding: JsonObject | undefined;
  readonly #sources: JsonObject[] = [];

  /** Searches that the upstream ran. */
  get searches(): number {
    const queries = this.#grounding?.webSearchQueries;
    return Array.isArray(queries) ? queries.length : 0;
  }

  read(candidate: JsonObject): void {
    this.#grounding = objectAt(candidate, 'groundingMetadata') ?? this.#grounding;
    const cited = objectAt(candidate, 'citationMetadata');
    for (const name of SOURCE_LISTS) for (const source of objectsAt(cited, name)) this.#sources.push(source);
  }

  /** What is known by now, for the text that was written, each told once. */
  take(text: string): Annotation[] {
    const grounding = this.#grounding;
    const sources = this.#sources.splice(0);
    this.#grounding = undefined;
    if (grounding === undefined && sources.length === 0) return [];
    const characters = charactersByByte(text);
    const found = [
      ...groundingOf(grounding ?? {}, characters),
      ...sources.flatMap((source) => annotationOf(source, source, characters)),
    ];
    const told = new Map(found.map((annotation) => [JSON.stringify(annotation), annotation]));
    return [...told.values()];
  }
}

/** Names of the list of sources at the two addresses where models are served. */
const SOURCE_LISTS = ['citationSources', 'citations'];

/** Where the upstream found something. */
const CHUNK_KINDS = ['web', 'retrievedContext', 'maps'];

function groundingOf(grounding: JsonObject, characters: Uint32Array): Annotation[] {
  const chunks = objectsAt(grounding, 'groundingChunks').map((chunk) =>
    CHUNK_KINDS.map((kind) => objectAt(chunk, kind)).find((value) => value !== undefined),
  );
  const supported = objectsAt(grounding, 'groundingSupports').flatMap((support) => {
    const places = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : [];
    const segment = objectAt(support, 'segment') ?? {};
    return places.flatMap((place) =>
      typeof place === 'number' ? annotationOf(chunks[place], segment, characters) : [],
    );
  });
  return supported.length > 0 ? supported : chunks.flatMap((chunk) => annotationOf(chunk, {}, characters));
}

function annotationOf(
  source: JsonObject | undefined,
  segment: JsonObject,
  characters: Uint32Array,
): Annotation[] {
  const url = textAt(source, 'uri');
  if (url === undefined) return [];
  const title = textAt(source, 'title');
  const content = textAt(segment, 'text');
  const end = numberAt(segment, 'endIndex');
  return [
    {
      type: 'url-citation',
      url,
      ...(title !== undefined && { title }),
      ...(end !== undefined && {
        startIndex: characterAt(numberAt(segment, 'startIndex') ?? 0, characters),
        endIndex: characterAt(end, characters),
      }),
      ...(content !== undefined && { content }),
    },
  ];
}

/** For each byte of the text, and for its end, the character it belongs to. */
function charactersByByte(text: string): Uint32Array {
  const characters = new Uint32Array(Buffer.byteLength(text) + 1);
  let byte = 0;
  let character = 0;
  for (const point of text) {
    const end = byte + Buffer.byteLength(point);
    characters.fill(character, byte, end);
    byte = end;
    character += point.length;
  }
  characters[byte] = character;
  return characters;
}

function characterAt(byte: number, characters: Uint32Array): number {
  const last = characters.length - 1;
  return characters[Math.min(Math.max(Math.trunc(byte), 0), last)] ?? 0;
}
