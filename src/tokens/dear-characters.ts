/**
 * Characters of which other tokenizers make more tokens than ours does, and how many more.
 *
 * Measured with the tables of `cl100k_base` and of `o200k_base`, which ours is, on the names of countries, languages,
 * currencies and dates in 60 languages (`dear-characters.test.ts`): what `cl100k_base` counts beyond one and a half times our
 * count, for each letter. In Georgian that is 1.9 for the dearest word and 1.4 for the usual one. Scripts that all tokenizers
 * know well have what a usual text needs, all others what their dearest word needs.
 */

/** Tokens are counted in sixteenths, so that a table of bytes holds them. */
const UNITS_A_TOKEN = 16;

/** Our tokenizer makes one token of up to three digits, others make three. */
const DIGIT = 11;
const CYRILLIC = 1;
const HAN = 3;
/** Accents that are written apart. */
const ACCENT = 8;
/** One half of an emoji or of a rare letter. */
const SURROGATE = 12;
/** Scripts of which other tokenizers know many letters and few words: Hindi, Bengali, Tamil, Thai. */
const KNOWN_LETTERS = 24;
/** All other scripts, and symbols. */
const RARE = 32;

/** First and last character, units. Later ones win. Characters that no row names need nothing more. */
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

/** Tokens that another tokenizer may count of a text beyond one and a half times what ours does. */
export function tokensOfDearCharacters(text: string): number {
  let units = 0;
  for (let index = 0; index < text.length; index++) units += UNITS[text.charCodeAt(index)] ?? 0;
  return units / UNITS_A_TOKEN;
}
