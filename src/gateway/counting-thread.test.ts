import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { openCountingThread } from './counting-thread.ts';

/** A token that is not cut, by itself or together with its neighbours. */
const SHORT_WORD = /^(?=.{1,15}$).*[^\s/]/su;

describe('a counting thread', () => {
  it('counts every token as the library does, and those that are no text by themselves', async () => {
    const words = ranks
      .filter((token) => typeof token === 'string')
      .filter((token) => SHORT_WORD.test(token));
    const text = `\ufeffusing \ufffd\ufffd ${words.join('\n')}`;
    const thread = openCountingThread();
    try {
      expect(words.length).toBeGreaterThan(150_000);
      expect(await thread.count([[text]])).toEqual([countTokens(text, { disallowedSpecial: new Set() })]);
    } finally {
      await thread.close();
    }
  });
});
