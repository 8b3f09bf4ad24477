import { constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { gunzip } from './gunzip.ts';

async function textOf(...pieces: readonly Uint8Array[]): Promise<string> {
  const out: Uint8Array[] = [];
  async function* source() {
    yield* pieces;
  }
  for await (const piece of gunzip(source())) out.push(piece);
  return Buffer.concat(out).toString();
}

const TEXT = 'data: {"text":"größer 🙂"}\n\n'.repeat(50);
const ZIPPED = gzipSync(TEXT);

/** A header with every field that there may be. */
function withAllFields(zipped: Buffer): Buffer {
  const header = Buffer.from(zipped.subarray(0, 10));
  header[3] = 2 + 4 + 8 + 16;
  return Buffer.concat([header, Buffer.from('\x03\x00abcname\0comment\0hc'), zipped.subarray(10)]);
}

describe('gunzip', () => {
  it('gives the same content wherever the bytes are cut', async () => {
    for (let at = 0; at <= ZIPPED.length; at++) {
      expect(await textOf(ZIPPED.subarray(0, at), ZIPPED.subarray(at))).toBe(TEXT);
    }
    expect(await textOf(...[...ZIPPED].map((byte) => Buffer.from([byte])))).toBe(TEXT);
  });

  it('reads any number of members, with any fields in their headers', async () => {
    expect(await textOf(Buffer.concat([ZIPPED, gzipSync(''), withAllFields(ZIPPED)]))).toBe(TEXT + TEXT);
    expect(await textOf(ZIPPED, withAllFields(ZIPPED))).toBe(TEXT + TEXT);
  });

  it.each(['\n', 'garbage', '\0\0\0\0', '\x1f', '\x1fx'])(
    'ignores %j after the last member',
    async (rest) => {
      const bytes = Buffer.from(rest, 'latin1');
      expect(await textOf(Buffer.concat([ZIPPED, bytes]))).toBe(TEXT);
      expect(await textOf(ZIPPED, bytes, bytes)).toBe(TEXT);
    },
  );

  it('yields flushed content before the end, and large content in small pieces', async () => {
    const half = gzipSync('data: 1\n\n', { finishFlush: constants.Z_SYNC_FLUSH });
    const reading = gunzip([half][Symbol.iterator]() as unknown as AsyncIterator<Uint8Array>);
    expect(Buffer.from((await reading.next()).value as Uint8Array).toString()).toBe('data: 1\n\n');
    await expect(reading.next()).rejects.toMatchObject({ reason: 'encoding' });
    const large = gzipSync(Buffer.alloc(10_000_000));
    let length = 0;
    for await (const piece of gunzip([large][Symbol.iterator]() as unknown as AsyncIterator<Uint8Array>)) {
      expect(piece.length).toBeLessThan(100_000);
      length += piece.length;
    }
    expect(length).toBe(10_000_000);
  });

  it.each([
    ['no gzip', Buffer.from('data: plain, and long enough\n\n')],
    ['nothing', Buffer.alloc(0)],
    ['a beginning', ZIPPED.subarray(0, -9)],
    ['half a trailer', ZIPPED.subarray(0, -1)],
    ['another checksum', Buffer.concat([ZIPPED.subarray(0, -8), Buffer.alloc(4), ZIPPED.subarray(-4)])],
    ['another length', Buffer.concat([ZIPPED.subarray(0, -4), Buffer.alloc(4)])],
    ['an unknown method', Buffer.concat([Buffer.from([0x1f, 0x8b, 7]), ZIPPED.subarray(3)])],
    ['a second member that is broken', Buffer.concat([ZIPPED, ZIPPED.subarray(0, 30)])],
    ['other bytes', Buffer.concat([ZIPPED.subarray(0, 10), Buffer.alloc(40, 0xff)])],
  ])('refuses %s', async (_name, bytes) => {
    await expect(textOf(bytes)).rejects.toThrow();
  });
});
