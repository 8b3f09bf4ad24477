import { type DataShape, openRun } from '../bounded-search.ts';
import { codeAt, digitsEnd, gapEnd, isAfterNumber, isDigit, oneOf, orDash, tableOf } from './characters.ts';

const isLetterOrDigit = oneOf(/[^\W_]/);

/** Three, two and four digits with the same sign between, without the numbers that are never given out. */
export const SSN: DataShape = {
  marks: tableOf(/\d/),
  openFrom: openRun({ begins: isDigit, contains: orDash(/[\d .\r\n-]/), maxLength: 15 }),
  find: (text, start) => {
    // An underscore divides names of files and tools: `ssn_123-45-6789`.
    if (isLetterOrDigit(codeAt(text, start - 1)) || isAfterNumber(text, start)) return undefined;
    const area = start + 3;
    const group = gapEnd(text, area);
    if (digitsEnd(text, start, 3) !== area || group === area) return undefined;
    const serial = gapEnd(text, group + 2);
    if (digitsEnd(text, group, 2) !== group + 2 || codeAt(text, group + 2) !== codeAt(text, area)) {
      return undefined;
    }
    const end = serial + 4;
    if (digitsEnd(text, serial, 4) !== end || isLetterOrDigit(codeAt(text, end))) return undefined;
    const isOther =
      NO_AREA.test(text.slice(start, area)) ||
      text.startsWith('00', group) ||
      text.startsWith('0000', serial);
    return isOther ? undefined : { start, end };
  },
};

const NO_AREA = /^(?:000|666|9)/;
