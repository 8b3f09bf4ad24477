import { describe, expect, it } from 'vitest';
import { requestFramingOf } from './request-framing.ts';

const framing = (version: string, ...rawHeaders: string[]) =>
  requestFramingOf({ method: 'POST', target: '/', version, rawHeaders: ['Host', 'a', ...rawHeaders] });

describe('where a request ends', () => {
  it('is given by its length, its chunks, or by nothing', () => {
    expect(framing('1.1')).toMatchObject({ length: 0, isChunked: false, problem: undefined });
    expect(framing('1.1', 'content-LENGTH', '0012')).toMatchObject({ length: 12, isChunked: false });
    expect(framing('1.0', 'Content-Length', '12')).toMatchObject({ length: 12, problem: undefined });
    const chunked = framing('1.1', 'transfer-encoding', 'Chunked');
    expect(chunked).toMatchObject({ length: 0, isChunked: true, problem: undefined });
  });

  it.each(['', '+1', '-1', '1.0', '0x1', '1e3', ' 1', '1, 1', '1 1', '9'.repeat(16), '\u0661'])(
    'is not said by the length %j',
    (length) => {
      expect(framing('1.1', 'Content-Length', length)).toBeUndefined();
    },
  );

  it('is refused if it is given twice', () => {
    const [length, coding] = [
      ['Content-Length', '4'],
      ['Transfer-Encoding', 'chunked'],
    ] as const;
    expect(framing('1.1', ...length, ...length)).toBeUndefined();
    expect(framing('1.1', ...length, ...coding)).toBeUndefined();
    expect(framing('1.1', ...coding, ...length)).toBeUndefined();
    expect(framing('1.0', ...coding, ...length)).toBeUndefined();
  });

  it.each([
    ['1.1', 'gzip, chunked'],
    ['1.1', 'chunked, identity'],
    ['1.1', 'identity'],
    ['1.1', 'xchunked'],
    ['1.1', 'chunked;a=b'],
    ['1.1', '"chunked"'],
    ['1.1', ''],
    ['1.0', 'chunked'],
    ['2.0', 'chunked'],
  ])('is not trusted in HTTP/%s with the coding %j', (version, coding) => {
    expect(framing(version, 'Transfer-Encoding', coding)?.problem).toEqual(expect.any(String));
  });

  it('is not trusted with two codings in two headers, or another version', () => {
    const twice = framing('1.1', 'Transfer-Encoding', 'chunked', 'transfer-encoding', 'chunked');
    expect(twice?.problem).toBeDefined();
    expect(framing('2.0')?.problem).toContain('HTTP/2.0');
  });
});

it.each([
  ['1.1', [], true],
  ['1.1', ['keep-alive'], true],
  ['1.1', ['Close'], false],
  ['1.1', ['keep-alive, close'], false],
  ['1.1', ['keep-alive', 'upgrade,close'], false],
  ['1.1', ['Upgrade'], true],
  ['1.1', ['disclosed'], true],
  ['1.0', [], false],
  ['1.0', ['Keep-Alive'], true],
  ['1.0', ['keep-alive', 'close'], false],
  ['1.0', ['upgrade'], false],
] as const)('HTTP/%s with the options %j keeps its connection: %s', (version, options, keepsAlive) => {
  const headers = options.flatMap((option) => ['Connection', option]);
  expect(framing(version, ...headers)?.keepsAlive).toBe(keepsAlive);
});

it.each([
  ['1.1', '100-continue', true],
  ['1.1', '100-Continue', true],
  ['1.1', '200-ok', false],
  ['1.0', '100-continue', false],
] as const)('HTTP/%s that expects %s waits to be invited: %s', (version, expectation, waits) => {
  expect(framing(version, 'Expect', expectation)?.expectsContinue).toBe(waits);
});
