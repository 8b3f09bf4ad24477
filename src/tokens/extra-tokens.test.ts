import { countTokens as countAsCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as countAsOurs } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { extraTokensOf } from './extra-tokens.ts';

/** What is reserved for a text at least: `COUNT_SLACK` times our count, and what is dear. Never more than its bytes. */
const reserved = (text: string) =>
  Math.min(Buffer.byteLength(text), Math.ceil(countAsOurs(text) * 1.5 + extraTokensOf(text)));

/** Names of countries, languages, currencies and dates in a language, one a line. */
function namesIn(language: string): string[] {
  const of = (type: Intl.DisplayNamesType, codes: readonly string[]) => {
    const names = new Intl.DisplayNames([language], { type, fallback: 'none' });
    return codes.map((code) => names.of(code) ?? '').filter((name) => name !== '');
  };
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'full' });
  return [
    ...of('region', REGIONS),
    ...of('language', LANGUAGES),
    ...of('currency', ['USD', 'EUR', 'JPY', 'GBP', 'RUB', 'INR', 'CNY', 'KRW', 'TRY', 'BRL']),
    ...Array.from({ length: 12 }, (_, month) => dates.format(new Date(2020, month, 2 * month + 1))),
  ];
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const REGIONS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

const WELL_KNOWN = 'en de fr es pt it pl tr vi fi hu cs id sw az ru uk bg sr kk mn ky zh zh-Hant ja ko'.split(
  ' ',
);
const RARE =
  'el ar fa ur ps ug he hi mr ne bn as pa gu or ta te kn ml si th lo dz my ka hy am ti km chr zgh nqo ff-Adlm ccp ii sat syr vai'.split(
    ' ',
  );
const LANGUAGES = [...WELL_KNOWN, ...RARE.slice(0, 30)];

describe('what is reserved for a text', () => {
  it.each([...WELL_KNOWN, ...RARE])('covers a tokenizer that knows fewer words: %s', (language) => {
    const text = namesIn(language).join(' ');
    expect(countAsCl100k(text)).toBeLessThanOrEqual(reserved(text));
  });

  it.each(RARE)('covers the dearest word of a rare script, again and again: %s', (language) => {
    for (const word of namesIn(language).flatMap((name) => name.split(/[\s,()]+/))) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is no ASCII.
      if (/[\x00-\x7f]/.test(word)) continue;
      const text = `${word} `.repeat(12);
      expect(countAsCl100k(text), word).toBeLessThanOrEqual(reserved(text));
    }
  });

  it.each([
    ['Georgian', 'საქართველო '],
    ['Gujarati', 'ગુજરાતી '],
    ['symbols', '□'],
    ['skin tones', '🏻'],
    ['Kazakh letters', 'Ғ '],
    ['digits', '123'],
  ])('covers %s', (_, piece) => {
    const text = piece.repeat(100);
    expect(countAsCl100k(text)).toBeLessThanOrEqual(reserved(text));
  });

  it.each([
    ['English', 'en', 0],
    ['German', 'de', 0],
    ['Vietnamese', 'vi', 0],
    ['Russian', 'ru', 0.12],
    ['Japanese', 'ja', 0.1],
    ['Korean', 'ko', 0.06],
    ['Chinese', 'zh', 0.16],
  ])('is hardly more than half as much again where all know the words: %s', (_, language, more) => {
    const text = namesIn(language).join(' ').replace(/\d/g, '');
    expect(extraTokensOf(text)).toBeLessThanOrEqual(countAsOurs(text) * 1.5 * more);
  });
});
