/** Codes of the characters that HTTP/1.1 is built of. */
export const TAB = 9;
export const LINE_FEED = 10;
export const CARRIAGE_RETURN = 13;
export const SPACE = 32;
export const COLON = 58;
export const SEMICOLON = 59;
const DELETE = 127;

/** Characters of the names of headers, as the inside of a class in a regular expression (RFC 9110, 5.6.2). */
export const TOKEN_CLASS = "!#$%&'*+\\-.^_`|~\\dA-Za-z";

/** What may be in a line: all but control characters, besides the tab. False for what is beyond the end of a text. */
export function isText(code: number): boolean {
  return code >= SPACE ? code !== DELETE : code === TAB;
}

/** A header's value, from one place of a text to another, without the blanks around it: there are fewer kinds of them than `trim` knows. */
export function headerValue(text: string, from: number, to: number): string {
  let first = from;
  let last = to;
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

/** What a digit of a chunk's size says; -1 for what is none. */
export function hexadecimalDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
