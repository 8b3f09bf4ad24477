import { afterAll, describe, expect, it } from 'vitest';
import { createTokenizer } from './tokenizer.ts';

const tokenizer = createTokenizer();
afterAll(() => tokenizer.close());

describe('the tokenizer', () => {
  it('counts words', async () => {
    expect(await tokenizer.count(['one two three', ' four'])).toBe(4);
  });

  it('counts special tokens as text', async () => {
    expect(await tokenizer.count(['<|endoftext|>'])).toBeGreaterThan(1);
  });

  it('takes its time in proportion, whatever the text is', async () => {
    await tokenizer.count(['warm']);
    const started = performance.now();
    const tokens = await tokenizer.count(['a'.repeat(120_000), 'b'.repeat(120_000)]);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(tokens).toBeGreaterThan(10_000);
  });

  it('scales what is longer than it counts', async () => {
    const counted = await tokenizer.count(['word '.repeat(80_000)]);
    const scaled = await tokenizer.count(['word '.repeat(800_000)]);
    expect(scaled / counted).toBeGreaterThan(9.5);
    expect(scaled / counted).toBeLessThan(10.5);
  });
});
