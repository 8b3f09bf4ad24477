import { isBlankCode, TOKEN_CLASS } from './characters.ts';

/** Why bytes are no head, or no trailers. */
export type SectionProblem = 'malformed' | 'too-large';

/** Name, colon, value, CRLF: each ends at the first character that it may not have, so this takes linear time. */
const FIELD_LINE = new RegExp(`([${TOKEN_CLASS}]+):([\\t\\x20-\\x7e\\x80-\\xff]*)\\r\\n`, 'y');

/**
 * Names and values of the field lines from `start` to the end of a text, in turn. The text has a character for each
 * byte, and each line ends in CRLF. Everything that two readers could read differently is malformed.
 */
export function parseFieldLines(text: string, start: number, maxFields: number): string[] | SectionProblem {
  const fields: string[] = [];
  // Not by a loop over character codes: V8 takes ten times as long for those.
  for (let at = start; at < text.length; at = FIELD_LINE.lastIndex) {
    FIELD_LINE.lastIndex = at;
    const line = FIELD_LINE.exec(text);
    if (line === null) return 'malformed';
    if (fields.length === 2 * maxFields) return 'too-large';
    fields.push(line[1] as string, withoutBlanks(line[2] as string));
  }
  return fields;
}

/** A value without the blanks around it. `trim` would also remove characters that are part of the value. */
function withoutBlanks(value: string): string {
  let first = 0;
  let last = value.length;
  while (first < last && isBlankCode(value.charCodeAt(first))) first++;
  while (last > first && isBlankCode(value.charCodeAt(last - 1))) last--;
  return value.slice(first, last);
}

/** A line that continues in the next one (obs-fold, RFC 9112, 5.2). */
const FOLD = /\r\n[\t ]+/g;
/** A folded length or coding: some readers would take its first line only, and frame the message differently. */
const FOLDED_FRAMING = /(?:^|\r\n)(?:content-length|transfer-encoding):[^\r]*\r\n[\t ]/i;

/** Joins folded field lines; undefined if a field that frames the message is folded. */
export function unfoldLines(lines: string): string | undefined {
  return FOLDED_FRAMING.test(lines) ? undefined : lines.replace(FOLD, ' ');
}
