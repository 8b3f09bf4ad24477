import { parseIp } from '../../../kit/net/egress.ts';
import type { BuiltinSlug } from '../../../ports/guardrails.ts';
import { type DataShape, openRun, type Span } from './bounded-search.ts';

/** By ASCII code: 1 = one of the characters. */
function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Characters as a lookup for codes below 128; all others are none of them. */
function oneOf(characters: RegExp): (code: number) => boolean {
  const table = tableOf(characters);
  return (code) => table[code] === 1;
}

const isDigit = oneOf(/\d/);
const isWordCharacter = oneOf(/\w/);
const isLetterOrDigit = oneOf(/[^\W_]/);
/** Latin letters beyond ASCII, which stand in the domains and names of many countries. */
const isLatinLetter = (code: number) => code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7;

/** Whether letters or digits go on before or after a span, so that it is part of something longer. */
function isPartOfWord(text: string, start: number, end: number): boolean {
  return isWordCharacter(text.charCodeAt(start - 1)) || isWordCharacter(text.charCodeAt(end));
}

const BEFORE_NUMBER = /\d[.\-\u2010-\u2015\u2212]?$/;

/** Whether a digit goes on before or after a span, with or without a point or hyphen between. */
function isPartOfNumber(text: string, start: number, end: number): boolean {
  return BEFORE_NUMBER.test(text.slice(Math.max(0, start - 2), start)) || isDigit(text.charCodeAt(end));
}

/** Hyphens, dashes and the minus sign, which word processors write for each other. */
const DASHES = '\\-\\u2010-\\u2015\\u2212';
const isLongDash = (code: number) => (code >= 0x2010 && code <= 0x2015) || code === 0x2212;
/** What may stand between digits that belong together: after a dash the line may end. */
const LINE_END = `(?:(?<=[${DASHES}])\\r?\\n)?`;
const GAP = `(?:[ .${DASHES}]${LINE_END})`;

/** Characters as a lookup, with all dashes. */
function orDash(characters: RegExp): (code: number) => boolean {
  const isOne = oneOf(characters);
  return (code) => isOne(code) || isLongDash(code);
}

const isLocalPart = oneOf(/[\w.%+'-]/);
const isDomain = oneOf(/[\w.-]/);
const MAX_LOCAL_PART = 64;
const MAX_DOMAIN = 253;
const AT_SIGN = 0x40;

const DOMAIN_CHARACTERS = `[\\w.\\-\\u00c0-\\u024f]`;

/** The span of an address around its sign between name and domain, which a match begins with. */
function addressAt(text: string, { start, end }: Span, signLength: number, floor: number): Span | undefined {
  const domain = DOMAIN_NAME.exec(text.slice(start + signLength, end))?.[0];
  let first = localPartBefore(text, start, floor);
  while (first < start && !isLatinLetter(text.charCodeAt(first)) && !/[\w]/.test(text[first] ?? '')) first++;
  return domain === undefined || first === start
    ? undefined
    : { start: first, end: start + signLength + domain.length };
}

/** A name, an `@`, and a domain with a point. */
const EMAIL: DataShape = {
  needs: tableOf(/@/),
  pattern: new RegExp(`@${DOMAIN_CHARACTERS}{3,${MAX_DOMAIN}}`, 'gi'),
  accept: (text, match, floor) => addressAt(text, match, 1, floor),
  openFrom: (text, floor) => {
    let at = text.length;
    const least = Math.max(floor, at - MAX_DOMAIN - 1);
    while (at > least && (isDomain(text.charCodeAt(at - 1)) || isLatinLetter(text.charCodeAt(at - 1)))) at--;
    const hasAtSign = at > floor && text.charCodeAt(at - 1) === AT_SIGN;
    return localPartBefore(text, hasAtSign ? at - 1 : text.length, floor);
  },
};

const ENCODED_SIGN = '(?:%40|&#0{0,4}64;|&#x0{0,4}40;|&commat;)';
const ENCODED_SIGN_FIRST = new RegExp(`^${ENCODED_SIGN}`, 'i');
/** The end of a text that may become an encoded sign, or is one with the beginning of a domain. */
const OPEN_ENCODED_SIGN = new RegExp(
  `^(?:%(?:4(?:0${DOMAIN_CHARACTERS}{0,${MAX_DOMAIN}})?)?|&(?:#[x\\d]{0,7}|[a-z]{0,6})(?:;${DOMAIN_CHARACTERS}{0,${MAX_DOMAIN}})?)$`,
  'i',
);
const MAX_ENCODED_SIGN = 10;

/** The same with the sign as it stands in URLs and HTML. */
const ENCODED_EMAIL: DataShape = {
  needs: tableOf(/[%&]/),
  pattern: new RegExp(`${ENCODED_SIGN}${DOMAIN_CHARACTERS}{3,${MAX_DOMAIN}}`, 'gi'),
  accept: (text, match, floor) => {
    const sign = ENCODED_SIGN_FIRST.exec(text.slice(match.start, match.end))?.[0] ?? '';
    return addressAt(text, match, sign.length, floor);
  },
  openFrom: (text, floor) => {
    const least = Math.max(floor, text.length - MAX_DOMAIN - MAX_ENCODED_SIGN);
    const tail = text.slice(least);
    const at = Math.max(tail.lastIndexOf('%'), tail.lastIndexOf('&'));
    const isOpen = at !== -1 && OPEN_ENCODED_SIGN.test(tail.slice(at));
    return localPartBefore(text, isOpen ? least + at : text.length, floor);
  },
};

/** Where the characters before a position begin that the name in an address may consist of. */
function localPartBefore(text: string, end: number, floor: number): number {
  const least = Math.max(floor, end - MAX_LOCAL_PART, 0);
  let start = end;
  while (
    start > least &&
    (isLocalPart(text.charCodeAt(start - 1)) || isLatinLetter(text.charCodeAt(start - 1)))
  ) {
    start--;
  }
  return start;
}

const LABEL = '[a-z\\d\\u00c0-\\u024f]';
const DOMAIN_NAME = new RegExp(
  `^(?:${LABEL}(?:(?:${LABEL}|-){0,61}${LABEL})?\\.){1,8}(?:xn--[a-z\\d-]{2,40}|[a-z\\u00c0-\\u024f]{2,24})`,
  'i',
);

const NORTH_AMERICAN = `(?:\\+?1${GAP}?)?(?:\\([2-9]\\d{2}\\)${GAP}?|[2-9]\\d{2}${GAP}?)\\d{3}${GAP}?\\d{4}`;
const INTERNATIONAL = `\\+[1-9]\\d{0,2}(?:${GAP}?\\(\\d{1,4}\\))?(?:${GAP}?\\d{1,5}){2,6}`;

/** Numbers of North America with or without their country code, and any number that begins with `+`. */
const PHONE: DataShape = {
  needs: tableOf(/\d/),
  pattern: new RegExp(`${NORTH_AMERICAN}|${INTERNATIONAL}`, 'g'),
  openFrom: openRun({ begins: oneOf(/[\d+(]/), contains: orDash(/[\d+() .\r\n-]/), maxLength: 62 }),
  accept: (text, { start, end }) => {
    if (isPartOfWord(text, start, end) || isPartOfNumber(text, start, end)) return undefined;
    const digits = text.slice(start, end).replace(/\D/g, '').length;
    return digits >= 8 && digits <= 15 ? { start, end } : undefined;
  },
};

/** Three, two and four digits, without the numbers that are never given out. */
const SSN: DataShape = {
  needs: tableOf(/\d/),
  pattern: new RegExp(`\\d{3}([ .${DASHES}])${LINE_END}\\d{2}\\1${LINE_END}\\d{4}`, 'g'),
  openFrom: openRun({ begins: isDigit, contains: orDash(/[\d .\r\n-]/), maxLength: 15 }),
  accept: (text, { start, end }) => {
    const isOther = /^(?:000|666|9)|^.{4}\s*00|0000$/.test(text.slice(start, end));
    // An underscore divides names of files and tools: `ssn_123-45-6789`.
    const isPart =
      isLetterOrDigit(text.charCodeAt(start - 1)) ||
      isLetterOrDigit(text.charCodeAt(end)) ||
      isPartOfNumber(text, start, end);
    return isOther || isPart ? undefined : { start, end };
  },
};

/** How the digits of cards are grouped. Single digits may stand apart too. */
const CARD_GROUPS = [
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 4, 3],
  [4, 4, 5],
  [6, 13],
  [8, 8],
  Array.from({ length: 19 }, () => 1),
];
const CARD_DIGITS = { least: 13, most: 19 };
/** Groups of digits as one number, and whether a card number may end with them; absent = none begins with them. */
const CARD_SHAPES = new Map<number, boolean>();
for (const groups of CARD_GROUPS) {
  let shape = 0;
  for (const [index, length] of groups.entries()) {
    shape = nextShape(shape, length);
    const isWhole = index === groups.length - 1 || (length === 1 && index >= CARD_DIGITS.least - 1);
    CARD_SHAPES.set(shape, isWhole || CARD_SHAPES.get(shape) === true);
  }
}

function nextShape(shape: number, groupLength: number): number {
  // To the base of 64: the number of single digits that stand first, then each group's length and twenty.
  return groupLength === 1 && shape < CARD_DIGITS.most ? shape + 1 : shape * 64 + 20 + groupLength;
}

/** Thirteen to nineteen digits whose last one is the check digit of the others. */
const CREDIT_CARD: DataShape = {
  needs: tableOf(/\d/),
  // How the first group goes on rejects most numbers before more of them is read.
  pattern: new RegExp(
    `[2-6](?<!\\d[2-6])(?=${GAP}\\d|\\d{3}${GAP}\\d|\\d{5}${GAP}\\d|\\d{7}${GAP}\\d|\\d{12})`,
    'g',
  ),
  openFrom: openRun({ begins: oneOf(/[2-6]/), contains: orDash(/[\d .\r\n-]/), maxLength: 73 }),
  accept: (text, { start }) => {
    const end = cardEnd(text, start);
    return end === undefined ? undefined : { start, end };
  },
};

const ZERO = 0x30;
const DOUBLED = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];

/** Where the longest card number ends that begins at a position. */
function cardEnd(text: string, start: number): number | undefined {
  let longest: number | undefined;
  let shape = 0;
  let count = 0;
  /** Luhn's sums with the digits at even and at odd places doubled. */
  let even = 0;
  let odd = 0;
  for (let at = start; count < CARD_DIGITS.most; ) {
    const before = count;
    for (; isDigit(text.charCodeAt(at)); at++, count++) {
      if (count === CARD_DIGITS.most) return longest;
      const digit = text.charCodeAt(at) - ZERO;
      const doubled = DOUBLED[digit] ?? 0;
      even += count % 2 === 0 ? doubled : digit;
      odd += count % 2 === 0 ? digit : doubled;
    }
    if (count === before) break;
    shape = nextShape(shape, count - before);
    const isWhole = before === 0 && count >= CARD_DIGITS.least;
    const mayEnd = CARD_SHAPES.get(shape);
    // The last digit is not doubled.
    if ((isWhole || mayEnd === true) && (count % 2 === 0 ? even : odd) % 10 === 0) longest = at;
    if (mayEnd === undefined) break;
    at = gapEnd(text, at);
  }
  return longest;
}

/** Where a gap between digits ends, which begins at a position; the position if there is none. */
function gapEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === 0x20 || code === 0x2e) return at + 1;
  if (code !== 0x2d && !isLongDash(code)) return at;
  const lineEnd = text.charCodeAt(at + 1) === 0x0d ? at + 2 : at + 1;
  return text.charCodeAt(lineEnd) === 0x0a ? lineEnd + 1 : at + 1;
}

const isHexDigit = oneOf(/[\da-f]/i);

/** Addresses of both versions in their usual notation; those of version 6 are found by their first colon. */
const IP_ADDRESS: DataShape = {
  needs: tableOf(/[\d:]/),
  // A colon within a longer notation is left out at once: `accept` would do the same.
  pattern:
    /(?:\d{1,3}\.){3}\d{1,3}|:(?<!:[\da-f]{0,4}:)(?:[\da-f]{0,4}:){1,6}(?:(?:\d{1,3}\.){3}\d{1,3}|[\da-f]{0,4})/gi,
  openFrom: openRun({ begins: oneOf(/[\da-f:]/i), contains: oneOf(/[\da-f:.]/i), maxLength: 46 }),
  accept: (text, match, floor) => {
    const { end } = match;
    const isVersion6 = text[match.start] === ':';
    let start = match.start;
    const least = isVersion6 ? Math.max(floor, start - 4, 0) : start;
    while (start > least && isHexDigit(text.charCodeAt(start - 1))) start--;
    const address = text.slice(start, end);
    const isPart =
      isPartOfWord(text, start, end) ||
      /[\d:]\.?$/.test(text.slice(Math.max(0, start - 2), start)) ||
      (text[end] === ':' && isVersion6) ||
      (text[end] === '.' && isDigit(text.charCodeAt(end + 1)));
    // Names such as `a::b` are written in many languages.
    return !isPart && /\d/.test(address) && parseIp(address) !== undefined ? { start, end } : undefined;
  },
};

/** The gateway's words for a filter. */
export interface FilterWords {
  /** Names the data in messages. */
  readonly label: string;
  /** Stands in place of the data. */
  readonly redaction: string;
}

export interface DataFilter extends FilterWords {
  readonly slug: BuiltinSlug;
  /** The ways in which the data is written. */
  readonly shapes: readonly DataShape[];
}

/** The filters for personal data that need no service. */
export const DATA_FILTERS: readonly DataFilter[] = [
  { slug: 'email', label: 'Email address', redaction: '[EMAIL]', shapes: [EMAIL, ENCODED_EMAIL] },
  { slug: 'phone', label: 'Phone number', redaction: '[PHONE]', shapes: [PHONE] },
  { slug: 'ssn', label: 'Social Security number', redaction: '[SSN]', shapes: [SSN] },
  { slug: 'credit-card', label: 'Credit card number', redaction: '[CREDIT_CARD]', shapes: [CREDIT_CARD] },
  { slug: 'ip-address', label: 'IP address', redaction: '[IP_ADDRESS]', shapes: [IP_ADDRESS] },
];
