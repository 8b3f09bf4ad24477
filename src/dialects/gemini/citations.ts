import type { Annotation } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt, objectAt, objectsAt, textAt } from '../../kit/json/members.ts';

/**
 * Limits for the annotations of one answer and their characters. A source is repeated with every passage that it
 * supports, so a long address and many passages would multiply. Sources beyond the limits are left out: such a list is
 * of no use to readers.
 */
const MAX_CITATIONS = { annotations: 1000, characters: 1024 * 1024 };

/** A source and the passage that it supports, as on the wire: positions are in bytes. */
interface Finding {
  readonly url: string;
  readonly title: string | undefined;
  readonly content: string | undefined;
  readonly bytes: { readonly start: number; readonly end: number } | undefined;
}

/**
 * Sources of a candidate's text: pages that the upstream searched (`groundingMetadata`) and works that the text
 * repeats (`citationMetadata`). Their positions are bytes on the wire, characters everywhere else.
 */
export class Citations {
  /** The latest one includes earlier ones. */
  #grounding: JsonObject | undefined;
  #cited = new Findings(MAX_CITATIONS);
  /** Remaining part of the limits. */
  #left = MAX_CITATIONS;

  get searches(): number {
    const queries = this.#grounding?.webSearchQueries;
    return Array.isArray(queries) ? queries.length : 0;
  }

  read(candidate: JsonObject): void {
    this.#grounding = objectAt(candidate, 'groundingMetadata') ?? this.#grounding;
    const cited = objectAt(candidate, 'citationMetadata');
    for (const name of SOURCE_LISTS) {
      for (const source of objectsAt(cited, name)) this.#cited.add(source, source);
    }
  }

  /** The annotations of the written text that are known so far, each returned once. */
  take(text: string): Annotation[] {
    const grounding = this.#grounding;
    const cited = this.#cited.all;
    if (grounding === undefined && cited.length === 0) return [];
    const found = new Findings(this.#left);
    if (grounding !== undefined) addGrounding(grounding, found);
    for (const finding of cited) found.addFinding(finding);
    this.#left = found.left;
    this.#grounding = undefined;
    this.#cited = new Findings(this.#left);
    const characters = charactersByByte(text);
    return found.all.map((finding) => annotationOf(finding, characters));
  }
}

/** Collects sources, each once, within the limits. */
class Findings {
  readonly all: Finding[] = [];
  readonly #keys = new Set<string>();
  readonly #numbers = new Map<string, number>();
  #left: typeof MAX_CITATIONS;

  constructor(room: typeof MAX_CITATIONS) {
    this.#left = room;
  }

  get left(): typeof MAX_CITATIONS {
    return this.#left;
  }

  add(source: JsonObject | undefined, segment: JsonObject): void {
    const url = textAt(source, 'uri');
    if (url === undefined) return;
    const end = numberAt(segment, 'endIndex');
    this.addFinding({
      url,
      title: textAt(source, 'title'),
      content: textAt(segment, 'text'),
      bytes: end === undefined ? undefined : { start: numberAt(segment, 'startIndex') ?? 0, end },
    });
  }

  addFinding(finding: Finding): void {
    const { url, title = '', content = '', bytes } = finding;
    const annotations = this.#left.annotations - 1;
    const characters = this.#left.characters - url.length - title.length - content.length;
    if (annotations < 0 || characters < 0) return;
    const texts = [url, title, content].map((text) => this.#numberOf(text));
    const key = [...texts, bytes?.start, bytes?.end].join();
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#left = { annotations, characters };
    this.all.push(finding);
  }

  /** Number of a text, as a short key for a long text. */
  #numberOf(text: string): number {
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    return number;
  }
}

const SOURCE_LISTS = ['citationSources', 'citations'];

const CHUNK_KINDS = ['web', 'retrievedContext', 'maps'];

function addGrounding(grounding: JsonObject, found: Findings): void {
  const chunks = objectsAt(grounding, 'groundingChunks').map((chunk) =>
    CHUNK_KINDS.map((kind) => objectAt(chunk, kind)).find((value) => value !== undefined),
  );
  for (const support of objectsAt(grounding, 'groundingSupports')) {
    const places = Array.isArray(support.groundingChunkIndices) ? support.groundingChunkIndices : [];
    const segment = objectAt(support, 'segment') ?? {};
    for (const place of places) if (typeof place === 'number') found.add(chunks[place], segment);
  }
  if (found.all.length === 0) for (const chunk of chunks) found.add(chunk, {});
}

function annotationOf({ url, title, content, bytes }: Finding, characters: Uint32Array): Annotation {
  return {
    type: 'url-citation',
    url,
    ...(title !== undefined && { title }),
    ...(bytes !== undefined && {
      startIndex: characterAt(bytes.start, characters),
      endIndex: characterAt(bytes.end, characters),
    }),
    ...(content !== undefined && { content }),
  };
}

/** For each byte of the text, and for its end, the index of its character. */
function charactersByByte(text: string): Uint32Array {
  const characters = new Uint32Array(Buffer.byteLength(text) + 1);
  let byte = 0;
  let character = 0;
  while (character < text.length) {
    const point = text.codePointAt(character) ?? 0;
    for (let end = byte + bytesOf(point); byte < end; byte++) characters[byte] = character;
    character += point > 0xffff ? 2 : 1;
  }
  characters[byte] = character;
  return characters;
}

/** Bytes of a character in UTF-8. */
function bytesOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function characterAt(byte: number, characters: Uint32Array): number {
  const last = characters.length - 1;
  return characters[Math.min(Math.max(Math.trunc(byte), 0), last)] ?? 0;
}
