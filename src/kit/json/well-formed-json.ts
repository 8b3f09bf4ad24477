/** What JSON has of halves of surrogate pairs, and all other escapes, so that none is read from its middle. */
const ESCAPES = /\\u(?:d[89a-f][0-9a-f]{2})|\\./g;

/** JSON without halves of surrogate pairs, which strict readers refuse: as in UTF-8, each becomes U+FFFD. */
export function wellFormedJson(value: object): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return text.replace(ESCAPES, (found) => (found.length > 2 ? '\ufffd' : found));
}
