import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/kit/builders/processor-ms.ts';
import { type Frame, FrameTooLarge } from './frames.ts';
import { SseReader, writeSseComment, writeSseFrame } from './sse.ts';

function read(text: string | Uint8Array, reader = new SseReader()): Frame[] {
  return [...reader.push(typeof text === 'string' ? Buffer.from(text) : text), ...reader.end()];
}

describe('reading events', () => {
  it.each([
    ['LF', 'event: a\ndata: 1\n\ndata: 2\n\n'],
    ['CRLF', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['CR', 'event: a\rdata: 1\r\rdata: 2\r\r'],
    ['no space after the colon', 'event:a\ndata:1\n\ndata:2\n\n'],
    ['a byte order mark', '\ufeffevent: a\ndata: 1\n\ndata: 2\n\n'],
    ['comments and other fields', ': hi\nevent: a\nid: 5\nretry: 9\ndata: 1\n\n: hi\n\ndata: 2\n\n'],
    ['no blank line at the end', 'event: a\ndata: 1\n\ndata: 2'],
  ])('takes %s', (_, text) => {
    expect(read(text)).toEqual([{ event: 'a', data: '1' }, { data: '2' }]);
  });

  it('joins the data lines of one event', () => {
    expect(read('data: a\ndata: b\n\n')).toEqual([{ data: 'a\nb' }]);
  });

  it('takes only one space off the data', () => {
    expect(read('data:  a \n\n')).toEqual([{ data: ' a ' }]);
  });

  it('gives no event for a name without data', () => {
    expect(read('event: a\n\ndata: 1\n\n')).toEqual([{ data: '1' }]);
  });

  it('gives events as soon as they are whole', () => {
    const reader = new SseReader();
    expect(reader.push(Buffer.from('data: 1\n'))).toEqual([]);
    expect(reader.push(Buffer.from('\ndata: 2'))).toEqual([{ data: '1' }]);
    expect(reader.end()).toEqual([{ data: '2' }]);
  });

  it('does not care where the bytes are cut', () => {
    const bytes = Buffer.from(
      '\ufeffevent: é\r\ndata: 😀\r\n\r\n: c\r\rdata: b\ndata: c\n\ndata: [DONE]\n\n',
    );
    const whole = read(bytes);
    expect(whole).toHaveLength(3);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
        const places = [...cuts].sort((one, other) => one - other);
        const reader = new SseReader();
        const frames = [0, ...places].flatMap((from, at) => reader.push(bytes.subarray(from, places[at])));
        expect([...frames, ...reader.end()]).toEqual(whole);
      }),
    );
  });

  it.each([
    ['one long line', `data: ${'x'.repeat(200)}`],
    ['many lines', 'data: xxxxxxxxxx\n'.repeat(20)],
  ])('stops at an event that is too large: %s', (_, text) => {
    expect(() => read(text, new SseReader(100))).toThrow(FrameTooLarge);
  });

  it('does not count events together', () => {
    expect(read(`data: ${'x'.repeat(60)}\n\n`.repeat(10), new SseReader(100))).toHaveLength(10);
  });

  it('takes time in proportion to a long line that comes in small pieces', () => {
    const reader = new SseReader();
    const piece = Buffer.from('x'.repeat(10));
    const taken = processorMs(() => {
      reader.push(Buffer.from('data: '));
      for (let count = 0; count < 200_000; count++) reader.push(piece);
      expect(reader.end()[0]?.data).toHaveLength(2_000_000);
    });
    expect(taken).toBeLessThan(3000);
  });
});

describe('writing events', () => {
  it('writes no blank line behind a comment, which some clients take for the end of an event', () => {
    expect(writeSseComment('hi')).toBe(': hi\n');
  });

  it('is what reading undoes', () => {
    expect(read(writeSseComment('hi') + writeSseFrame('{"a":1}', 'x') + writeSseFrame('[DONE]'))).toEqual([
      { event: 'x', data: '{"a":1}' },
      { data: '[DONE]' },
    ]);
  });
});
