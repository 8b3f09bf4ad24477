import { describe, expect, it } from 'vitest';
import { cannotBeInHead, parseRequestHead } from './request-head.ts';

const head = (line: string, ...headers: string[]) => [line, ...headers, ''].join('\r\n');

describe('a request head', () => {
  it('is read as it was written', () => {
    expect(parseRequestHead(head('POST /a?b=c HTTP/1.1', 'Host: a', 'X-Empty:', 'x-b:\t b \t c \t'))).toEqual(
      {
        method: 'POST',
        target: '/a?b=c',
        version: '1.1',
        rawHeaders: ['Host', 'a', 'X-Empty', '', 'x-b', 'b \t c'],
      },
    );
    expect(parseRequestHead(head('GET / HTTP/1.0'))).toMatchObject({ version: '1.0', rawHeaders: [] });
  });

  it.each(['/', '/%zz', '/a#b', '//x', '/a"<>\\b', 'http://a/b?c', 'http://u:p@[::1]:1?a', 'HTTPS://a', '*'])(
    'may be for %s',
    (target) => {
      expect(parseRequestHead(head(`GET ${target} HTTP/1.1`))).toMatchObject({ target });
    },
  );

  it.each([
    'GET',
    'GET /',
    'GET  HTTP/1.1',
    'GET / HTTP/1.1 ',
    'GET /  HTTP/1.1',
    'GET /a b HTTP/1.1',
    'GET /a\tb HTTP/1.1',
    'GET /\xe4 HTTP/1.1',
    'GET /\x7f HTTP/1.1',
    'GET /\0 HTTP/1.1',
    'GET foo HTTP/1.1',
    'GET ?x HTTP/1.1',
    'GET *x HTTP/1.1',
    'GET a:80 HTTP/1.1',
    'GET http://u@@a/ HTTP/1.1',
    'GET http://a\\b/ HTTP/1.1',
    'GET http://a#b HTTP/1.1',
    'get / HTTP/1.1',
    'FOO / HTTP/1.1',
    'GE\tT / HTTP/1.1',
    ' GET / HTTP/1.1',
    'GET / http/1.1',
    'GET / HTTP/1.2',
    'GET / HTTP/01.1',
    'GET / HTTP/1.',
    'GET / HTTP/1.1\r',
    'GET / HTTP/1.1\nHost: a',
    'PRI * HTTP/2.0',
    '',
  ])('does not begin with %j', (line) => {
    expect(parseRequestHead(head(line, 'Host: a'))).toBe('malformed');
  });

  it.each([
    'X',
    ': b',
    ' X: b',
    'X : b',
    'X\t: b',
    'X{: b',
    'X-\xe4: b',
    'X\0: b',
    'X: a\0b',
    'X: a\x01b',
    'X: a\x7fb',
    'X: a\rb',
    'X: a\nb',
    'X: a\nY: b',
    'X: a\r',
    'X: a\r\n b',
    'X: a\r\n\tb',
    '\r\nX: a',
  ])('has no header %j', (line) => {
    expect(parseRequestHead(head('GET / HTTP/1.1', 'Host: a', line, 'Y: z'))).toBe('malformed');
    expect(parseRequestHead(head('GET / HTTP/1.1', line))).toBe('malformed');
  });

  it('has a thousand headers at most', () => {
    const headers = Array.from({ length: 1_000 }, (_, index) => `x-${index}: a`);
    expect(parseRequestHead(head('GET / HTTP/1.1', ...headers))).toMatchObject({ method: 'GET' });
    expect(parseRequestHead(head('GET / HTTP/1.1', ...headers, 'x: a'))).toBe('too-large');
  });
});

describe('the beginning of a head', () => {
  it('is waited for, wherever it was cut', () => {
    const text = head('GET /ä HTTP/1.1', 'Host: a\tb', 'X: \xe4');
    for (let end = 0; end <= text.length; end++) expect(cannotBeInHead(text.slice(0, end))).toBe(false);
    expect(cannotBeInHead('\nHost: a')).toBe(false);
  });

  it.each(['\x16\x03\x01', 'GET / HTTP/1.1\nHost', 'GET / HTTP/1.1\r\nX: a\rb', 'X: \0', 'X: \x7f'])(
    'is not waited for after %j',
    (text) => {
      expect(cannotBeInHead(text)).toBe(true);
    },
  );
});
