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

/** Whether the value of a member is a mark. One that does not look like a mark is text, whatever its member. */
export function isMark(member: string, value: string): boolean {
  return MARK_MEMBERS.has(member) && MARK.test(value);
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w=.+-]+){0,8};base64,([\w+/=-]*)$/;

/** A data URL with base64; undefined = the text is none. */
export function dataUrlOf(text: string): { readonly mediaType: string; readonly data: string } | undefined {
  if (!text.startsWith('data:')) return undefined;
  const match = DATA_URL.exec(text);
  return match === null ? undefined : { mediaType: match[1] ?? 'text/plain', data: match[2] ?? '' };
}

const TEXT_MEDIA = /^text\/|^application\/(?:json|x-ndjson|xml|x-yaml|yaml|javascript|sql)$|\+(?:json|xml)$/;

/** Whether files of a media type are text. */
export function isTextMedia(mediaType: string): boolean {
  return TEXT_MEDIA.test(mediaType.toLowerCase());
}
