import { describe, expect, it } from 'vitest';
import { LengthDecoder } from './body-decoder.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import { REQUEST_RULES } from './reading-rules.ts';

interface Decoded {
  readonly content: string;
  readonly isDone: boolean;
  /** Bytes after the body; undefined if they are malformed. */
  readonly rest: string | undefined;
}

function decodeAll(decoder: ChunkedDecoder | LengthDecoder, pieces: readonly string[]): Decoded {
  let content = '';
  const sink = {
    onContent: (bytes: Buffer, from: number, to: number) => {
      content += bytes.toString('latin1', from, to);
    },
  };
  for (const [index, piece] of pieces.entries()) {
    const after = decoder.decode(Buffer.from(piece, 'latin1'), 0, piece.length, sink);
    if (typeof after === 'string') return { content, isDone: decoder.isDone, rest: undefined };
    if (!decoder.isDone) continue;
    return { content, isDone: true, rest: piece.slice(after) + pieces.slice(index + 1).join('') };
  }
  return { content, isDone: decoder.isDone, rest: '' };
}

const BODY = '5;a="b c"\r\nhello\r\n00A\r\n\r\n0123456\n\r\n0;x\r\nX-A: b\r\nY:\r\n\r\n';
const WHOLE: Decoded = { content: 'hello\r\n0123456\n', isDone: true, rest: 'GET /' };

describe('the chunked decoder', () => {
  it('decodes the same content from one piece, from any two, and byte by byte', () => {
    const text = `${BODY}GET /`;
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [text])).toEqual(WHOLE);
    for (let at = 0; at <= text.length; at++) {
      expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [text.slice(0, at), text.slice(at)])).toEqual(
        WHOLE,
      );
    }
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [...text])).toEqual(WHOLE);
  });

  it('is not done before the last byte', () => {
    for (let end = 0; end < BODY.length; end++) {
      expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [BODY.slice(0, end)])).toMatchObject({
        isDone: false,
        rest: '',
      });
    }
  });

  it('starts at the given index', () => {
    const decoder = new ChunkedDecoder(REQUEST_RULES);
    const bytes = Buffer.from('xx0\r\n\r\nyy');
    expect(decoder.decode(bytes, 2, bytes.length, { onContent: () => {} })).toBe(7);
    expect(decoder.isDone).toBe(true);
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
  ])('refuses %j', (text) => {
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [text]).rest).toBeUndefined();
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [...text]).rest).toBeUndefined();
  });

  it('limits extensions and trailers', () => {
    const extended = `1;${'a'.repeat(10_000)}\r\nx\r\n`;
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [extended])).toMatchObject({
      content: 'x',
      rest: '',
    });
    expect(decodeAll(new ChunkedDecoder(REQUEST_RULES), [extended, extended]).rest).toBeUndefined();
    expect(
      decodeAll(new ChunkedDecoder(REQUEST_RULES), [`0\r\nX: ${'a'.repeat(20_000)}`]).rest,
    ).toBeUndefined();
  });
});

it('the length decoder ends after the given number of bytes', () => {
  const text = 'helloGET /';
  const whole = { content: 'hello', isDone: true, rest: 'GET /' };
  for (let at = 0; at <= text.length; at++) {
    expect(decodeAll(new LengthDecoder(5), [text.slice(0, at), text.slice(at)])).toEqual(whole);
  }
});
