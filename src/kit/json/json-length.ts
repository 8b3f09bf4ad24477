/** Characters that JSON escapes, lone surrogates included. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters.
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Length of `JSON.stringify(value)` for a parsed JSON value, mostly without writing the text. */
export function jsonLength(value: unknown): number {
  if (typeof value === 'string') return textLength(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).length;
  return Array.isArray(value) ? listLength(value) : membersLength(value);
}

function textLength(text: string): number {
  return ESCAPED.test(text) ? JSON.stringify(text).length : text.length + 2;
}

function listLength(entries: readonly unknown[]): number {
  if (entries.length === 0) return 2;
  let length = 1;
  for (const entry of entries) length += jsonLength(entry) + 1;
  return length;
}

function membersLength(object: object): number {
  let length = 1;
  for (const name in object) {
    const member = (object as Record<string, unknown>)[name];
    if (member !== undefined) length += textLength(name) + jsonLength(member) + 2;
  }
  return Math.max(2, length);
}
