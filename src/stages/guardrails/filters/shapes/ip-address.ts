import { parseIp } from '../../../../kit/net/egress.ts';
import { type DataShape, openRun, type Span } from '../bounded-search.ts';
import { codeAt, digitsEnd, isDigit, isWordCharacter, oneOf, tableOf } from './characters.ts';

const isHexDigit = oneOf(/[\da-f]/i);
const POINT = 0x2e;
const COLON = 0x3a;
const MAX_GROUP = 4;
/** Groups after the first colon that end with a colon too. */
const MAX_MORE_GROUPS = 6;
/** Colons of an address with an address of version 4 at its end; there are seven without. */
const LEAST_COLONS = 6;
const DOUBLE = '::';

/** Addresses of both versions in their usual notation; those of version 6 are found by their first colon. */
export const IP_ADDRESS: DataShape = {
  marks: tableOf(/[\d:]/),
  openFrom: openRun({ begins: oneOf(/[\da-f:]/i), contains: oneOf(/[\da-f:.]/i), maxLength: 46 }),
  find: (text, at, floor) => (codeAt(text, at) === COLON ? version6(text, at, floor) : version4(text, at)),
};

function version4(text: string, start: number): Span | undefined {
  if (isPartBefore(text, start)) return undefined;
  const end = version4End(text, start);
  if (end === undefined || isPartAfter(text, end)) return undefined;
  return parseIp(text.slice(start, end)) === undefined ? undefined : { start, end };
}

/** Four numbers of at most three digits. */
function version4End(text: string, start: number): number | undefined {
  let at = start;
  for (let numbers = 0; ; at++) {
    const end = digitsEnd(text, at, 3);
    if (end === at) return undefined;
    at = end;
    if (++numbers === 4) return at;
    if (codeAt(text, at) !== POINT) return undefined;
  }
}

function version6(text: string, colon: number, floor: number): Span | undefined {
  let start = colon;
  while (start > colon - MAX_GROUP && isHexDigit(codeAt(text, start - 1))) start--;
  // A colon within a longer notation begins none.
  if (codeAt(text, start - 1) === COLON) return undefined;
  let end = colon + 1;
  let more = 0;
  for (; more < MAX_MORE_GROUPS; more++) {
    const group = hexEnd(text, end);
    if (codeAt(text, group) !== COLON) break;
    end = group + 1;
  }
  // Names such as `a::b` and times such as `12:30:45` are written in many languages.
  if (more === 0) return undefined;
  if (more + 1 < LEAST_COLONS && !text.slice(colon, end).includes(DOUBLE)) return undefined;
  end = version4End(text, end) ?? hexEnd(text, end);
  start = Math.max(start, floor);
  if (isPartBefore(text, start) || isPartAfter(text, end) || codeAt(text, end) === COLON) return undefined;
  const address = text.slice(start, end);
  return HAS_DIGIT.test(address) && parseIp(address) !== undefined ? { start, end } : undefined;
}

const HAS_DIGIT = /\d/;

function hexEnd(text: string, at: number): number {
  let end = at;
  while (end < at + MAX_GROUP && isHexDigit(codeAt(text, end))) end++;
  return end;
}

/** Whether letters, digits or colons go on before a position, also before a point. */
function isPartBefore(text: string, start: number): boolean {
  const before = codeAt(text, start - 1);
  if (isWordCharacter(before) || before === COLON) return true;
  if (before !== POINT) return false;
  const beforePoint = codeAt(text, start - 2);
  return isDigit(beforePoint) || beforePoint === COLON;
}

/** `isPartBefore`, for what goes on after a position. */
function isPartAfter(text: string, end: number): boolean {
  const after = codeAt(text, end);
  return isWordCharacter(after) || (after === POINT && isDigit(codeAt(text, end + 1)));
}
