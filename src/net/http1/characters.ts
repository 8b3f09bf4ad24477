/** Codes of the characters that HTTP/1.1 is built of. */
export const TAB = 9;
export const LINE_FEED = 10;
export const CARRIAGE_RETURN = 13;
export const SPACE = 32;
export const SEMICOLON = 59;
const DELETE = 127;

/** Characters of field names, as the inside of a class in a regular expression (RFC 9110, 5.6.2). */
export const TOKEN_CLASS = "!#$%&'*+\\-.^_`|~\\dA-Za-z";

const IS_TOKEN = tableOf(new RegExp(`[${TOKEN_CLASS}]`));

/** Whether a field name may have this character. */
export function isToken(code: number): boolean {
  return IS_TOKEN[code] === 1;
}

/**
 * Whether a field value may have this character: tab, or no control character. False for NaN, beyond the end of a
 * text.
 */
export function isText(code: number): boolean {
  return code >= SPACE ? code !== DELETE : code === TAB;
}

export function isBlankCode(code: number): boolean {
  return code === SPACE || code === TAB;
}

export function isLineBreak(code: number | undefined): boolean {
  return code === CARRIAGE_RETURN || code === LINE_FEED;
}

/** The value of a hexadecimal digit; -1 for other characters. */
export function hexadecimalDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => Number(characters.test(String.fromCharCode(code))));
}
