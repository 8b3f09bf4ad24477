import { isDocumentedName, isDocumentedValue, isServerToolType } from './documented-words.ts';

/** Members whose values name something: in the representation, and on the wire of all dialects. */
const ID_MEMBERS: ReadonlySet<string> = new Set(
  'id callId call_id tool_call_id tool_use_id toolUseId item_id fileId file_id model'.split(' '),
);

/** Members whose values are seals: proofs over texts, and sealed texts. */
const SEAL_MEMBERS: ReadonlySet<string> = new Set(
  `signature thought_signature thoughtSignature reasoning_signature encrypted encrypted_content encrypted_index
  redactedContent`.split(/\s+/),
);

const TYPE_MEMBERS: ReadonlySet<string> = new Set(['mediaType', 'media_type', 'mimeType', 'mime_type']);

/** Identifiers and base64: no spaces, quotes or at signs. */
const TOKEN = /^[\w.:/+=#$-]*$/;

/** Ids are minted with letters: a value of digits alone may be a telephone or card number. */
const LETTER = /[A-Za-z]/;

/** Seals are long: hashes and encrypted texts. */
const MIN_SEAL_CHARACTERS = 40;

/** Base64 of either alphabet. */
const BASE64 = /^[\w+/-]*={0,2}$/;

/** Bytes of pictures and sounds are many: what is shorter is scanned as it stands, too. */
const MIN_BINARY_CHARACTERS = 256;

/**
 * Whose words the members of an object are: those of a protocol, those of JSON Schema, or the caller's own, among which
 * nothing is a mark. `unlisted`: what no format documents, in which only documented types and names are no texts.
 */
export type Vocabulary = 'protocol' | 'unlisted' | 'schema' | 'own';

const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(
  'parameters schema input_schema inputSchema parametersJsonSchema responseJsonSchema'.split(' '),
);

/** Members of a schema that hold examples of data. */
const DATA_MEMBERS: ReadonlySet<string> = new Set('default const enum example examples'.split(' '));

/** Members whose own members are named by the caller. */
const NAMING_MEMBERS: ReadonlySet<string> = new Set(
  'properties patternProperties dependentSchemas dependentRequired $defs definitions metadata'.split(' '),
);

/** Members of JSON Schema, and of its forms at upstreams. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set(
  `$schema $id $ref $defs $comment $anchor $dynamicRef $dynamicAnchor $vocabulary definitions type enum const title
  description default examples example format pattern properties patternProperties additionalProperties propertyNames
  unevaluatedProperties required dependentRequired dependentSchemas dependencies items prefixItems additionalItems
  unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems minLength maxLength minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minProperties maxProperties allOf anyOf oneOf not if then else nullable
  readOnly writeOnly deprecated contentEncoding contentMediaType contentSchema propertyOrdering strict
  json`.split(/\s+/),
);

/** Members whose content is the caller's own, names and values: labels, environments, attributes of stored files. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['metadata', 'env', 'attributes', 'variables']);

/** An object with members, where it stands, and the vocabulary of its members. */
export interface Surroundings {
  readonly member: string;
  readonly vocabulary: Vocabulary;
  readonly type?: unknown;
}

/** Whether the name of a member is a text: the caller chose it, or no format documents it. */
export function isNameText(name: string, { member, vocabulary }: Surroundings): boolean {
  if (vocabulary === 'own' || NAMING_MEMBERS.has(member)) return true;
  return vocabulary === 'schema' ? !SCHEMA_KEYWORDS.has(name) : !isDocumentedName(name);
}

/** The vocabulary of an object's members. An object of an undocumented type is unlisted as a whole. */
export function vocabularyOfObject(type: unknown, vocabulary: Vocabulary): Vocabulary {
  if (vocabulary !== 'protocol' || typeof type !== 'string') return vocabulary;
  return isDocumentedValue('type', type) ? vocabulary : 'unlisted';
}

export function vocabularyOfField(name: string): Vocabulary {
  return OWN_MEMBERS.has(name) ? 'own' : 'protocol';
}

/** The vocabulary of a member's value. `outer`: the object that has the member. */
export function vocabularyOf(member: string, outer: Surroundings): Vocabulary {
  const { vocabulary } = outer;
  if (vocabulary === 'own' || OWN_MEMBERS.has(member)) return 'own';
  const isNamed = NAMING_MEMBERS.has(outer.member);
  if (vocabulary === 'schema') {
    if (isNamed) return 'schema';
    if (DATA_MEMBERS.has(member)) return 'own';
    return SCHEMA_KEYWORDS.has(member) ? 'schema' : 'unlisted';
  }
  if (vocabulary === 'unlisted') return vocabulary;
  if (SCHEMA_MEMBERS.has(member)) {
    return typeof outer.type === 'string' && isServerToolType(outer.type) ? 'protocol' : 'schema';
  }
  return isDocumentedName(member) ? 'protocol' : 'unlisted';
}

const SCHEMA_TYPE = /^(?:object|string|number|integer|boolean|array|null)$/i;

/** Whether the value of a member is a mark. One that does not look like a mark is text, whatever its member. */
export function isMark(member: string, value: string, vocabulary: Vocabulary): boolean {
  switch (vocabulary) {
    case 'protocol':
      if (ID_MEMBERS.has(member)) return TOKEN.test(value) && LETTER.test(value);
      if (SEAL_MEMBERS.has(member)) return isSeal(value);
      return isDocumentedValue(member, value) || (TYPE_MEMBERS.has(member) && isCommonMediaType(value));
    case 'unlisted':
      return member === 'type' && isDocumentedValue(member, value);
    case 'schema':
      return member === 'type' && SCHEMA_TYPE.test(value);
    case 'own':
      return false;
  }
}

export function isSeal(value: string): boolean {
  return value.length >= MIN_SEAL_CHARACTERS && TOKEN.test(value);
}

export function isBinary(value: string): boolean {
  return value.length >= MIN_BINARY_CHARACTERS && isBase64(value);
}

export function isBase64(value: string): boolean {
  return BASE64.test(value);
}

/** Parts that hold sounds, with their format beside the bytes or, in answers, without one. */
const SOUND_MEMBERS: ReadonlySet<string> = new Set(['audio', 'input_audio']);

/** Types of objects with sealed thoughts in `data`. */
const SEALED_TYPES: ReadonlySet<unknown> = new Set(['redacted_thinking', 'reasoning.encrypted']);

/** What the member `data` of an object holds, as far as its other members tell. */
export function contentOfData(
  object: Readonly<Record<string, unknown>>,
  member: string,
): 'bytes' | 'seal' | 'text' {
  const kind = object.kind ?? object.type;
  if (SEALED_TYPES.has(kind)) return 'seal';
  if (SOUND_MEMBERS.has(member) || kind === 'audio') return 'bytes';
  const isTyped = [...TYPE_MEMBERS].some((name) => typeof object[name] === 'string');
  return isTyped && (kind === 'base64' || kind === undefined) ? 'bytes' : 'text';
}

const DATA_URL = /^data:((?:[\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+){0,8});base64,([\w+/=-]*)$/;

/** A data URL with base64. */
export interface DataUrl {
  readonly mediaType: string;
  readonly data: string;
  /** The media type as it is written, with its parameters. */
  readonly type: string;
}

/** Undefined = the text is no data URL with base64. */
export function dataUrlOf(text: string): DataUrl | undefined {
  if (!text.startsWith('data:')) return undefined;
  const match = DATA_URL.exec(text);
  if (match === null) return undefined;
  const [, type = '', data = ''] = match;
  return { mediaType: type.split(';', 1)[0] || 'text/plain', data, type };
}

/** Media types of files that are sent to models, and parameters of texts. */
const MEDIA_TYPES: ReadonlySet<string> = new Set(
  `image/png image/jpeg image/jpg image/gif image/webp image/svg+xml image/bmp image/tiff image/heic image/heif image/avif
  audio/mpeg audio/mp3 audio/mp4 audio/wav audio/x-wav audio/flac audio/ogg audio/aac audio/webm audio/opus audio/pcm
  video/mp4 video/mpeg video/webm video/quicktime video/x-msvideo video/3gpp text/plain text/html text/css text/csv
  text/markdown text/xml text/javascript application/pdf application/json application/xml application/zip
  application/octet-stream application/x-ndjson application/yaml application/x-yaml application/javascript
  application/sql application/msword application/rtf application/vnd.ms-excel
  application/vnd.openxmlformats-officedocument.wordprocessingml.document
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
  application/vnd.openxmlformats-officedocument.presentationml.presentation`.split(/\s+/),
);

const CHARSET = /; ?charset=(?:utf-?8|utf-?16|us-ascii|iso-8859-1)$/;

/** Whether a media type is one of those that are sent to models. Others are texts: callers may write what they like. */
export function isCommonMediaType(type: string): boolean {
  const bare = type.toLowerCase().replace(CHARSET, '');
  return bare === '' || MEDIA_TYPES.has(bare);
}

const TEXT_MEDIA =
  /^text\/|^application\/(?:json|x-ndjson|xml|x-yaml|yaml|javascript|sql)\b|\+(?:json|xml)\b/;

export function isTextMedia(mediaType: string): boolean {
  return TEXT_MEDIA.test(mediaType.toLowerCase());
}
