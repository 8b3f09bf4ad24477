import { isUtf8 } from 'node:buffer';
import type { Problem } from '../problem.ts';

/** The text of a file, and why it cannot be used, if so. */
export interface FileText {
  readonly text: string;
  readonly problem?: Problem;
}

/** Decodes a file that must be UTF-8. Other bytes are refused: replaced silently, they would become part of a name. */
export function fileText(bytes: Buffer): FileText {
  if (isUtf16(bytes)) {
    const message =
      'the configuration is saved as UTF-16: save it as UTF-8, in PowerShell with Set-Content -Encoding utf8';
    return { text: '', problem: { path: '', message } };
  }
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return { text };
  const before = bytes.subarray(0, firstDifference(bytes, Buffer.from(text))).toString('utf8');
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return {
    text,
    problem: {
      path: `line ${line}, column ${column}`,
      message: 'this character is not UTF-8: save the file as UTF-8',
      place: { line, column, width: 1 },
    },
  };
}

/** A byte order mark, or zero in one of the first two bytes: a configuration begins with ASCII. */
function isUtf16([first, second]: Buffer): boolean {
  if (first === undefined || second === undefined) return false;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || (first === 0) !== (second === 0);
}

function firstDifference(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
