import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decodeContent, encodeContent } from './content-codec.ts';

const contentOf = (text: string) => ({
  generationId: 'gen-1',
  accountId: 'a',
  workspaceId: 'w',
  content: { input: { prompt: text }, output: { completion: text, reasoning: null }, error: null },
});

it.each([0, 100, 16_300, 16_400, 1_000_000])(
  'gives back what was written: %i characters twice',
  async (length) => {
    const stored = contentOf('\u{1F511}'.repeat(length / 2));
    const file = await encodeContent(stored);
    expect(await decodeContent(file)).toEqual(stored);
    // As a part of a larger buffer.
    const within = Buffer.concat([Buffer.from('ab'), file, Buffer.from('cd')]).subarray(2, 2 + file.length);
    expect(await decodeContent(within)).toEqual(stored);
  },
);

it('finds nothing in damaged files', async () => {
  for (const stored of [contentOf('small'), contentOf('large '.repeat(20_000))]) {
    const file = await encodeContent(stored);
    for (const length of [0, 3, 10, file.length - 5, file.length - 1]) {
      expect(await decodeContent(file.subarray(0, length))).toBeUndefined();
    }
  }
  expect(await decodeContent(gzipSync('[]'))).toBeUndefined();
});

it('reads no more than a file says that it has', async () => {
  const file = await encodeContent(contentOf('large '.repeat(20_000)));
  file.writeUInt32LE(100, file.length - 4);
  expect(await decodeContent(file)).toBeUndefined();
});
