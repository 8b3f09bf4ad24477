import { expect, it } from 'vitest';
import { type BodyReader, InboundRequest } from './inbound-request.ts';
import { requestFramingOf } from './request-framing.ts';

function requestOf() {
  const told: string[] = [];
  const head = { method: 'POST', target: '/', version: '1.1', rawHeaders: ['A', '1', 'a', '2'] };
  const framing = requestFramingOf(head);
  if (framing === undefined) throw new Error('a head without a framing');
  const request = new InboundRequest(head, framing, { resumeReading: () => told.push('read on') });
  const readerOf = (takes: boolean): BodyReader => ({
    piece: (bytes) => {
      told.push(String(bytes));
      return takes;
    },
    end: () => told.push('end'),
    cut: () => told.push('cut'),
  });
  return { request, told, readerOf };
}

const piece = (text: string) => Buffer.from(text);

it('returns the first header of a name', () => {
  const { request } = requestOf();
  expect([request.header('a'), request.header('b')]).toEqual(['1', undefined]);
});

it('returns all headers of a name', () => {
  const { request } = requestOf();
  expect([request.headerValues('a'), request.headerValues('b')]).toEqual([['1', '2'], []]);
});

it('returns a buffered body in one piece, once', () => {
  const { request } = requestOf();
  request.push(piece('a'));
  request.push(piece('b'));
  expect(request.takeBody()).toBeUndefined();
  request.complete();
  expect(String(request.takeBody())).toBe('ab');
  expect(request.takeBody()).toBeUndefined();
});

it('passes to a reader what is buffered, what comes later, and the end', () => {
  const { request, told, readerOf } = requestOf();
  request.push(piece('a'));
  request.read(readerOf(true));
  request.push(piece('b'));
  request.complete();
  request.cut();
  expect(told).toEqual(['a', 'read on', 'b', 'end']);
});

it('buffers content and end while the reader is paused', () => {
  const { request, told, readerOf } = requestOf();
  request.read(readerOf(false));
  request.push(piece('a'));
  expect(request.wantsMore).toBe(false);
  request.push(piece('b'));
  request.push(piece('c'));
  request.complete();
  expect(told).toEqual(['read on', 'a']);
  request.resumeReading();
  expect(told).toEqual(['read on', 'a', 'b']);
  request.resumeReading();
  request.resumeReading();
  expect(told).toEqual(['read on', 'a', 'b', 'c', 'end']);
});

it('reports to a reader that the body was cut, also before it began', () => {
  const { request, told, readerOf } = requestOf();
  request.push(piece('a'));
  request.cut();
  request.read(readerOf(true));
  expect(told).toEqual(['a', 'cut']);
});

it('wants no more than it may buffer, in large pieces or small', () => {
  for (const [text, most] of [
    ['x'.repeat(1_000), 66],
    ['x', 600],
  ] as const) {
    const { request } = requestOf();
    let count = 0;
    for (; request.wantsMore; count++) request.push(piece(text));
    expect(count).toBeLessThan(most);
    request.discard();
    expect(request.wantsMore).toBe(true);
  }
});
