export const TAB = 9;
export const LINE_FEED = 10;
export const CARRIAGE_RETURN = 13;
export const SPACE = 32;
export const COLON = 58;
export const SEMICOLON = 59;
const DELETE = 127;

/** What may be in a line: all but control characters, besides the tab. False for what is beyond the end of a text. */
export function isText(code: number): boolean {
  return code >= SPACE ? code !== DELETE : code === TAB;
}
