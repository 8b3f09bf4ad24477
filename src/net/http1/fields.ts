import { CARRIAGE_RETURN, COLON, isBlankCode, isText, isToken, LINE_FEED } from './characters.ts';

/** Why bytes are no head, or no trailers. */
export type SectionProblem = 'malformed' | 'too-large';

/**
 * Names and values of the field lines from `start` to the end of a text, in turn. The text has a character for each
 * byte, and each line ends in CRLF. Everything that two readers could read differently is malformed.
 */
export function parseFieldLines(text: string, start: number, maxFields: number): string[] | SectionProblem {
  const fields: string[] = [];
  let at = start;
  while (at < text.length) {
    const colon = endOfToken(text, at);
    if (colon === at || text.charCodeAt(colon) !== COLON) return 'malformed';
    const end = endOfValue(text, colon + 1);
    if (text.charCodeAt(end) !== CARRIAGE_RETURN || text.charCodeAt(end + 1) !== LINE_FEED)
      return 'malformed';
    if (fields.length === 2 * maxFields) return 'too-large';
    fields.push(text.slice(at, colon), fieldValue(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

/** A value without the blanks around it. `trim` would also remove characters that are part of the value. */
function fieldValue(text: string, from: number, to: number): string {
  let first = from;
  let last = to;
  while (first < last && isBlankCode(text.charCodeAt(first))) first++;
  while (last > first && isBlankCode(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

function endOfToken(text: string, start: number): number {
  let at = start;
  while (isToken(text.charCodeAt(at))) at++;
  return at;
}

function endOfValue(text: string, start: number): number {
  let at = start;
  while (isText(text.charCodeAt(at))) at++;
  return at;
}

/** A line that continues in the next one (obs-fold, RFC 9112, 5.2). */
const FOLD = /\r\n[\t ]+/g;
/** A folded length or coding: some readers would take its first line only, and frame the message differently. */
const FOLDED_FRAMING = /(?:^|\r\n)(?:content-length|transfer-encoding):[^\r]*\r\n[\t ]/i;

/** Joins folded field lines; undefined if a field that frames the message is folded. */
export function unfoldLines(lines: string): string | undefined {
  return FOLDED_FRAMING.test(lines) ? undefined : lines.replace(FOLD, ' ');
}
