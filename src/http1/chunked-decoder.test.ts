import { describe, expect, it } from 'vitest';
import { LengthFrame } from './body-decoder.ts';
import { ChunkedFrame } from './chunked-decoder.ts';
import { REQUEST_RULES } from './reading-rules.ts';

interface Taken {
  readonly content: string;
  readonly isOver: boolean;
  /** Bytes that were not taken; undefined when they are no body. */
  readonly rest: string | undefined;
}

function takenFrom(frame: ChunkedFrame | LengthFrame, pieces: readonly string[]): Taken {
  let content = '';
  const taker = {
    onContent: (bytes: Buffer, from: number, to: number) => {
      content += bytes.toString('latin1', from, to);
    },
  };
  for (const [index, piece] of pieces.entries()) {
    const after = frame.take(Buffer.from(piece, 'latin1'), 0, piece.length, taker);
    if (typeof after === 'string') return { content, isOver: frame.isOver, rest: undefined };
    if (!frame.isOver) continue;
    return { content, isOver: true, rest: piece.slice(after) + pieces.slice(index + 1).join('') };
  }
  return { content, isOver: frame.isOver, rest: '' };
}

const BODY = '5;a="b c"\r\nhello\r\n00A\r\n\r\n0123456\n\r\n0;x\r\nX-A: b\r\nY:\r\n\r\n';
const WHOLE: Taken = { content: 'hello\r\n0123456\n', isOver: true, rest: 'GET /' };

describe('a body in chunks', () => {
  it('is the same in one piece, in two at every place, and byte by byte', () => {
    const text = `${BODY}GET /`;
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [text])).toEqual(WHOLE);
    for (let at = 0; at <= text.length; at++) {
      expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [text.slice(0, at), text.slice(at)])).toEqual(WHOLE);
    }
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [...text])).toEqual(WHOLE);
  });

  it('is not over before its last byte', () => {
    for (let end = 0; end < BODY.length; end++) {
      expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [BODY.slice(0, end)])).toMatchObject({
        isOver: false,
        rest: '',
      });
    }
  });

  it('begins where it is told to', () => {
    const frame = new ChunkedFrame(REQUEST_RULES);
    const bytes = Buffer.from('xx0\r\n\r\nyy');
    expect(frame.take(bytes, 2, bytes.length, { onContent: () => {} })).toBe(7);
    expect(frame.isOver).toBe(true);
  });

  it.each([
    '\r\n',
    ';a\r\n',
    ' 5\r\nhello',
    '5 \r\nhello',
    '5 ;a\r\nhello',
    '+5\r\nhello',
    '-5\r\n',
    '0x5\r\nhello',
    'g\r\n',
    '5\nhello',
    '5\rhello',
    '5;a\nhello',
    '5;a\rb\r\nhello',
    '5;\0\r\nhello',
    '5\r\nhello0\r\n\r\n',
    '5\r\nhello\n0\r\n\r\n',
    '5\r\nhello\r0\r\n\r\n',
    `${'f'.repeat(14)}\r\n`,
    `${'0'.repeat(13)}5\r\n`,
    '0\r\n\n',
    '0\r\nX y\r\n\r\n',
    '0\r\nX: y\n\r\n',
    '0\r\nX: y\r\n z\r\n\r\n',
    '0\r\nX : y\r\n\r\n',
    '0\r\n\0\r\n\r\n',
    '0\r\nX: \rz\r\n\r\n',
  ])('is none with %j', (text) => {
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [text]).rest).toBeUndefined();
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [...text]).rest).toBeUndefined();
  });

  it('has extensions and trailers of some length only', () => {
    const extended = `1;${'a'.repeat(10_000)}\r\nx\r\n`;
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [extended])).toMatchObject({ content: 'x', rest: '' });
    expect(takenFrom(new ChunkedFrame(REQUEST_RULES), [extended, extended]).rest).toBeUndefined();
    expect(
      takenFrom(new ChunkedFrame(REQUEST_RULES), [`0\r\nX: ${'a'.repeat(20_000)}`]).rest,
    ).toBeUndefined();
  });
});

it('a body of a length ends after so many bytes', () => {
  const text = 'helloGET /';
  const whole = { content: 'hello', isOver: true, rest: 'GET /' };
  for (let at = 0; at <= text.length; at++) {
    expect(takenFrom(new LengthFrame(5), [text.slice(0, at), text.slice(at)])).toEqual(whole);
  }
});
