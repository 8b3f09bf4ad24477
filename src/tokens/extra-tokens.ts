/**
 * Extra tokens that other tokenizers need for some characters, compared with ours.
 *
 * Measured with the tables of `cl100k_base` and of `o200k_base`, which ours is, on the names of countries, languages,
 * currencies and dates in 60 languages (`extra-tokens.test.ts`): tokens of `cl100k_base` beyond 1.5 times our count,
 * per letter. In Georgian that is 1.9 for the worst word and 1.4 on average. Common scripts have the average of a
 * text, all others the value of their worst word.
 */

/** The table holds sixteenths of a token, so that a value fits into a byte. */
const UNITS_PER_TOKEN = 16;

/** Ours makes one token of three digits, others three. */
const DIGIT = 11;
const CYRILLIC = 1;
const HAN = 3;
/** Combining accents. */
const ACCENT = 8;
/** One half of an emoji or of a rare letter. */
const SURROGATE = 12;
/** Scripts with tokens for letters but few for words: Hindi, Bengali, Tamil, Thai. */
const KNOWN_LETTERS = 24;
/** All other scripts, and symbols. */
const RARE = 32;

/** Later rows win. Characters in no row need no extra tokens. */
const RANGES: readonly (readonly [first: number, last: number, units: number])[] = [
  [0x0030, 0x0039, DIGIT],
  [0x0300, 0x036f, ACCENT],
  [0x0370, 0x1dff, RARE],
  [0x0400, 0x045f, CYRILLIC],
  [0x0460, 0x052f, KNOWN_LETTERS],
  [0x0900, 0x09ff, KNOWN_LETTERS],
  [0x0b80, 0x0bff, KNOWN_LETTERS],
  [0x0e00, 0x0e7f, KNOWN_LETTERS],
  [0x1f00, 0x1fff, RARE],
  [0x2028, 0x2dff, RARE],
  [0x2e80, 0x2fff, HAN],
  [0x3100, 0x9fff, HAN],
  [0xa000, 0xabff, RARE],
  [0xd800, 0xdfff, SURROGATE],
  [0xf900, 0xfaff, HAN],
  [0xfb00, 0xfdff, RARE],
  [0xfe70, 0xfefe, RARE],
  [0xff00, 0xffef, HAN],
];

const UNITS = new Uint8Array(0x10000);
for (const [first, last, units] of RANGES) UNITS.fill(units, first, last + 1);

/** Tokens that another tokenizer may count beyond 1.5 times our count. */
export function extraTokensOf(text: string): number {
  let units = 0;
  for (let index = 0; index < text.length; index++) units += UNITS[text.charCodeAt(index)] ?? 0;
  return units / UNITS_PER_TOKEN;
}
