/** A table by ASCII code: 1 = one of the characters. */
export function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Characters as a lookup for codes below 128; all others are none of them. */
export function oneOf(characters: RegExp): (code: number) => boolean {
  const table = tableOf(characters);
  // Reading past the end of a table is slow.
  return (code) => code < table.length && table[code] === 1;
}

/** The UTF-16 unit at an index; 0 outside of the text: what the engine makes of `charCodeAt` is slow there. */
export function codeAt(text: string, index: number): number {
  return index >= 0 && index < text.length ? text.charCodeAt(index) : 0;
}

export const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
export const isWordCharacter = oneOf(/\w/);

/** Hyphens, dashes and the minus sign, which word processors write for each other. */
export const isDash = (code: number) => code === 0x2d || isLongDash(code);
const isLongDash = (code: number) => (code >= 0x2010 && code <= 0x2015) || code === 0x2212;

/** Characters as a lookup, with all dashes. */
export function orDash(characters: RegExp): (code: number) => boolean {
  const isOne = oneOf(characters);
  return (code) => isOne(code) || isLongDash(code);
}

/** Whether a digit stands before a position, with or without a point or hyphen between. */
export function isAfterNumber(text: string, at: number): boolean {
  const before = codeAt(text, at - 1);
  if (isDigit(before)) return true;
  return (before === 0x2e || isDash(before)) && isDigit(codeAt(text, at - 2));
}

/** Where digits end that begin at a position, at most a number of them. */
export function digitsEnd(text: string, at: number, most: number): number {
  let end = at;
  while (end < at + most && isDigit(codeAt(text, end))) end++;
  return end;
}

/**
 * Where a gap ends that may stand between digits, the position if there is none: a blank, a point, or a dash, after
 * which the line may end.
 */
export function gapEnd(text: string, at: number): number {
  const code = codeAt(text, at);
  if (code === 0x20 || code === 0x2e) return at + 1;
  if (!isDash(code)) return at;
  const lineEnd = codeAt(text, at + 1) === 0x0d ? at + 2 : at + 1;
  return codeAt(text, lineEnd) === 0x0a ? lineEnd + 1 : at + 1;
}
