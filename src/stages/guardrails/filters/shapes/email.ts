import type { DataShape, Span } from '../bounded-search.ts';
import { codeAt, isWordCharacter, oneOf, tableOf } from './characters.ts';

/** Latin letters beyond ASCII, which stand in the domains and names of many countries. */
const isLatinLetter = (code: number) => code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7;
const isLocalPart = oneOf(/[\w.%+'-]/);
const isAsciiDomain = oneOf(/[\w.-]/);
const isDomain = (code: number) => isAsciiDomain(code) || isLatinLetter(code);
const MAX_LOCAL_PART = 64;
const MAX_DOMAIN = 253;
const AT_SIGN = 0x40;
const POINT = 0x2e;
const PERCENT = 0x25;

/** A name, an `@`, and a domain with a point. */
export const EMAIL: DataShape = {
  marks: tableOf(/@/),
  find: (text, sign, floor) => addressAt(text, sign, sign + 1, floor),
  openFrom: (text, floor) => {
    let at = text.length;
    const least = Math.max(floor, at - MAX_DOMAIN - 1);
    while (at > least && isDomain(codeAt(text, at - 1))) at--;
    const hasAtSign = at > floor && codeAt(text, at - 1) === AT_SIGN;
    return localPartBefore(text, hasAtSign ? at - 1 : text.length, floor);
  },
};

const ENCODED_PERCENT = '40';
const ENCODED_ENTITY = /&(?:#0{0,4}64|#x0{0,4}40|commat);/iy;
const DOMAIN_CHARACTERS = `[\\w.\\-\\u00c0-\\u024f]`;
/** The end of a text that may become an encoded sign, or is one with the beginning of a domain. */
const OPEN_ENCODED_SIGN = new RegExp(
  `^(?:%(?:4(?:0${DOMAIN_CHARACTERS}{0,${MAX_DOMAIN}})?)?|&(?:#[x\\d]{0,7}|[a-z]{0,6})(?:;${DOMAIN_CHARACTERS}{0,${MAX_DOMAIN}})?)$`,
  'i',
);
const MAX_ENCODED_SIGN = 10;

/** An address whose sign is written as in URLs and HTML. */
export const ENCODED_EMAIL: DataShape = {
  marks: tableOf(/[%&]/),
  find: (text, sign, floor) => {
    const end = encodedSignEnd(text, sign);
    return end === undefined ? undefined : addressAt(text, sign, end, floor);
  },
  openFrom: (text, floor) => {
    const least = Math.max(floor, text.length - MAX_DOMAIN - MAX_ENCODED_SIGN);
    const tail = text.slice(least);
    const at = Math.max(tail.lastIndexOf('%'), tail.lastIndexOf('&'));
    const isOpen = at !== -1 && OPEN_ENCODED_SIGN.test(tail.slice(at));
    return localPartBefore(text, isOpen ? least + at : text.length, floor);
  },
};

function encodedSignEnd(text: string, at: number): number | undefined {
  if (codeAt(text, at) === PERCENT) {
    return text.startsWith(ENCODED_PERCENT, at + 1) ? at + 1 + ENCODED_PERCENT.length : undefined;
  }
  ENCODED_ENTITY.lastIndex = at;
  return ENCODED_ENTITY.test(text) ? ENCODED_ENTITY.lastIndex : undefined;
}

/** The span of an address around its sign, behind which the domain begins. */
function addressAt(text: string, sign: number, domain: number, floor: number): Span | undefined {
  let end = domain;
  let hasPoint = false;
  for (; end < domain + MAX_DOMAIN && isDomain(codeAt(text, end)); end++) {
    hasPoint ||= codeAt(text, end) === POINT;
  }
  if (!hasPoint) return undefined;
  let first = localPartBefore(text, sign, floor);
  while (first < sign && !isLatinLetter(codeAt(text, first)) && !isWordCharacter(codeAt(text, first)))
    first++;
  if (first === sign) return undefined;
  const name = DOMAIN_NAME.exec(text.slice(domain, end))?.[0];
  return name === undefined ? undefined : { start: first, end: domain + name.length };
}

/** Where the characters before a position begin that the name in an address may consist of. */
function localPartBefore(text: string, end: number, floor: number): number {
  const least = Math.max(floor, end - MAX_LOCAL_PART, 0);
  let start = end;
  while (start > least && (isLocalPart(codeAt(text, start - 1)) || isLatinLetter(codeAt(text, start - 1)))) {
    start--;
  }
  return start;
}

const LABEL = '[a-z\\d\\u00c0-\\u024f]';
const DOMAIN_NAME = new RegExp(
  `^(?:${LABEL}(?:(?:${LABEL}|-){0,61}${LABEL})?\\.){1,8}(?:xn--[a-z\\d-]{2,40}|[a-z\\u00c0-\\u024f]{2,24})`,
  'i',
);
