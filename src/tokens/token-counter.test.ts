import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../test/kit/builders/processor-ms.ts';
import { createTokenCounter, openTokenTable } from './token-counter.ts';

const table = createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken');
const count = createTokenCounter(openTokenTable(readFileSync(table)));
const byLibrary = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

describe('counting tokens', () => {
  it('counts every token as the library does', () => {
    const texts = ranks.filter((token) => typeof token === 'string');
    expect(texts.length).toBeGreaterThan(190_000);
    expect(texts.filter((text) => count(text) !== byLibrary(text))).toEqual([]);
  });

  it.each([
    ['words of many scripts', 'größer als 42, 漢字かな交じり文, ελληνικά, हिन्दी, עברית'],
    ['families and half of a character', '👩‍👩‍👧 😀 \ud800 \udc00x'],
    ['what would be special', '<|endoftext|> <|im_start|>'],
    ['lines and spaces', 'a\r\n\r\n\tb   c \n\n\n   d/\r\n//'],
    ['what cannot be read', '\ufffd\ufffd \u0000\u0001'],
    ['nothing', ''],
  ])('counts %s', (_name, text) => {
    expect(count(text)).toBe(byLibrary(text));
  });

  it('counts whatever comes', () => {
    // The library loses the mark that texts may begin with.
    const anything = fc.string({ unit: 'binary', maxLength: 80 }).filter((text) => !text.includes('\ufeff'));
    const wordlike = fc.string({ unit: fc.constantFrom(..."aAbé '’sST\n\r\t 19.,-/漢ー"), maxLength: 120 });
    fc.assert(
      fc.property(fc.oneof(anything, wordlike), (text) => count(text) === byLibrary(text)),
      { numRuns: 2000 },
    );
  });

  it('counts tokens that begin with the mark that texts may begin with', () => {
    expect(count('\ufeffusing')).toBe(1);
  });

  it('cuts what would take too long', () => {
    const taken = processorMs(() => {
      for (const run of ['a', '漢', '-', ' ', '\n', 'é']) {
        expect(count(run.repeat(8192))).toBeLessThanOrEqual(8192 * 3);
        expect(count(run.repeat(8192))).toBeGreaterThanOrEqual(8192 / 128);
      }
    });
    expect(taken).toBeLessThan(2000);
  });
});
