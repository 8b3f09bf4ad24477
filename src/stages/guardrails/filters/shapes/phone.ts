import { type DataShape, openRun } from '../bounded-search.ts';
import {
  codeAt,
  digitsEnd,
  gapEnd,
  isAfterNumber,
  isDigit,
  isWordCharacter,
  oneOf,
  orDash,
  tableOf,
} from './characters.ts';

const PLUS = 0x2b;
const OPENING = 0x28;
const CLOSING = 0x29;
const ONE = 0x31;
const DIGITS = { least: 8, most: 15 };
/**
 * Most digits of numbers with `+`: those of the country, of an area in parentheses, of a group; and most
 * groups.
 */
const MOST = { country: 3, area: 4, group: 5, groups: 6 };

/** Numbers of North America with or without their country code, and any number that begins with `+`. */
export const PHONE: DataShape = {
  marks: tableOf(/[\d+(]/),
  openFrom: openRun({ begins: oneOf(/[\d+(]/), contains: orDash(/[\d+() .\r\n-]/), maxLength: 62 }),
  find: (text, start) => {
    if (isWordCharacter(codeAt(text, start - 1)) || isAfterNumber(text, start)) return undefined;
    const end = northAmericanEnd(text, start) ?? internationalEnd(text, start);
    return end === undefined || isWordCharacter(codeAt(text, end)) ? undefined : { start, end };
  },
};

function northAmericanEnd(text: string, start: number): number | undefined {
  let at = start;
  const hasPlus = codeAt(text, at) === PLUS;
  if (hasPlus) at++;
  if (codeAt(text, at) === ONE) at = gapEnd(text, at + 1);
  else if (hasPlus) return undefined;
  const isInParentheses = codeAt(text, at) === OPENING;
  if (isInParentheses) at++;
  const first = codeAt(text, at);
  if (!isDigit(first) || first <= ONE || digitsEnd(text, at, 3) !== at + 3) return undefined;
  at += 3;
  if (isInParentheses && codeAt(text, at++) !== CLOSING) return undefined;
  at = gapEnd(text, at);
  if (digitsEnd(text, at, 3) !== at + 3) return undefined;
  at = gapEnd(text, at + 3);
  return digitsEnd(text, at, 4) === at + 4 ? at + 4 : undefined;
}

function internationalEnd(text: string, start: number): number | undefined {
  const first = codeAt(text, start + 1);
  if (codeAt(text, start) !== PLUS || !isDigit(first) || first < ONE) return undefined;
  let at = digitsEnd(text, start + 1, MOST.country);
  let digits = at - start - 1;
  const opening = gapEnd(text, at);
  if (codeAt(text, opening) === OPENING) {
    const closing = digitsEnd(text, opening + 1, MOST.area);
    if (closing === opening + 1 || codeAt(text, closing) !== CLOSING) return undefined;
    digits += closing - opening - 1;
    at = closing + 1;
  }
  let ofGroups = 0;
  for (let groups = 0; groups < MOST.groups; groups++) {
    const group = gapEnd(text, at);
    const end = digitsEnd(text, group, MOST.group);
    if (end === group) break;
    ofGroups += end - group;
    at = end;
  }
  digits += ofGroups;
  return ofGroups >= 2 && digits >= DIGITS.least && digits <= DIGITS.most ? at : undefined;
}
