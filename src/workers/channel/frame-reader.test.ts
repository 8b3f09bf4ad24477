import { describe, expect, it } from 'vitest';
import { FrameReader } from './frame-reader.ts';

const frameOf = (text: string): Buffer => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(body.length);
  return Buffer.concat([head, body]);
};

describe('FrameReader', () => {
  const texts = ['one', '', 'three', 'x'.repeat(300)];
  const bytes = Buffer.concat(texts.map(frameOf));

  it('finds all frames of one read', () => {
    expect(new FrameReader().push(bytes).map(String)).toEqual(texts);
  });

  it('finds the same frames wherever the bytes are split in two', () => {
    for (let at = 0; at <= bytes.length; at++) {
      const reader = new FrameReader();
      const frames = [...reader.push(bytes.subarray(0, at)), ...reader.push(bytes.subarray(at))];
      expect(frames.map(String)).toEqual(texts);
    }
  });

  it('finds them byte by byte', () => {
    const reader = new FrameReader();
    const frames = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte])));
    expect(frames.map(String)).toEqual(texts);
  });
});
