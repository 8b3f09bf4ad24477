/**
 * Members whose values are marks of a protocol (types, ids, seals, encoded bytes) rather than text, in the
 * representation and on the wire of all dialects.
 */
const MARK_MEMBERS: ReadonlySet<string> = new Set(
  `type role id callId call_id tool_call_id tool_use_id toolUseId item_id kind dialect status format givenBy signature
  signatureFormat signatureGivenBy thought_signature thoughtSignature reasoning_signature encrypted encrypted_content
  redactedContent data bytes mediaType media_type mimeType mime_type detail phase ttl mode fileId file_id model object
  $schema $ref`.split(/\s+/),
);

/** Identifiers, media types, numbers and base64: no spaces, quotes or at signs. */
const MARK = /^[\w.:/+=#$-]*$/;

/**
 * Whose words the members of an object are: those of a protocol, those of JSON Schema, or the caller's own, among which
 * nothing is a mark.
 */
export type Vocabulary = 'protocol' | 'schema' | 'own';

const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(
  'parameters schema input_schema inputSchema parametersJsonSchema responseJsonSchema'.split(' '),
);

/** Members of a schema that hold examples of data. */
const DATA_MEMBERS: ReadonlySet<string> = new Set('default const enum example examples'.split(' '));

/** Members whose own members are named by the caller. */
const NAMING_MEMBERS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'metadata']);

/** Members whose content is the caller's own, names and values: labels, environments, attributes of stored files. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['metadata', 'env', 'attributes', 'variables']);

/** Whether the caller chose the names of the members of an object. `member`: where it stands. */
export function isNamedByCaller(member: string, vocabulary: Vocabulary): boolean {
  return vocabulary === 'own' || NAMING_MEMBERS.has(member);
}

/** The vocabulary of a member's value. `outer`: where the object stands that has the member, and its vocabulary. */
export function vocabularyOf(
  member: string,
  outer: { readonly member: string; readonly vocabulary: Vocabulary },
): Vocabulary {
  if (outer.vocabulary === 'own' || OWN_MEMBERS.has(member)) return 'own';
  if (outer.vocabulary === 'protocol') return SCHEMA_MEMBERS.has(member) ? 'schema' : 'protocol';
  return DATA_MEMBERS.has(member) && !NAMING_MEMBERS.has(outer.member) ? 'own' : 'schema';
}

const SCHEMA_TYPE = /^(?:object|string|number|integer|boolean|array|null)$/i;

/** Whether the value of a member is a mark. One that does not look like a mark is text, whatever its member. */
export function isMark(member: string, value: string, vocabulary: Vocabulary): boolean {
  switch (vocabulary) {
    case 'protocol':
      return MARK_MEMBERS.has(member) && MARK.test(value);
    case 'schema':
      return member === 'type' && SCHEMA_TYPE.test(value);
    case 'own':
      return false;
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+){0,8};base64,([\w+/=-]*)$/;

/** A data URL with base64; undefined = the text is none. */
export function dataUrlOf(text: string): { readonly mediaType: string; readonly data: string } | undefined {
  if (!text.startsWith('data:')) return undefined;
  const match = DATA_URL.exec(text);
  return match === null ? undefined : { mediaType: match[1] ?? 'text/plain', data: match[2] ?? '' };
}

const TEXT_MEDIA =
  /^text\/|^application\/(?:json|x-ndjson|xml|x-yaml|yaml|javascript|sql)\b|\+(?:json|xml)\b/;

/** Whether files of a media type are text. */
export function isTextMedia(mediaType: string): boolean {
  return TEXT_MEDIA.test(mediaType.toLowerCase());
}
