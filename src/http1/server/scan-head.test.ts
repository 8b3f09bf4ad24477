import { describe, expect, it } from 'vitest';
import { plainRequest } from './scan-head.ts';

const head = (...lines: string[]) =>
  `POST /v1/messages HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}`;

describe('a plain request', () => {
  it.each([
    ['Host: a', 'Content-Length: 12'],
    ['content-length:12', 'Connection: keep-alive', 'Host: a'],
    ['Host: a', 'CONNECTION: Keep-Alive', 'CONTENT-LENGTH:  12'],
  ])('ends where its length says: %s', (...lines) => {
    expect(plainRequest(head(...lines))).toEqual({ target: '/v1/messages', length: 12 });
  });

  it.each([
    ['no length', 'Host: a'],
    ['two lengths', 'Content-Length: 12', 'Content-Length: 12'],
    ['two lengths, one behind a bare line feed', 'Content-Length: 12', 'X: a\nContent-Length: 5'],
    ['a length behind a bare line feed', 'X: a\nContent-Length: 12'],
    ['a length that is none', 'Content-Length: 12a'],
    ['a space before the colon', 'Content-Length : 12'],
    ['a coding', 'Content-Length: 12', 'Transfer-Encoding: chunked'],
    ['a coding behind a bare line feed', 'Content-Length: 12', 'X: a\nTransfer-Encoding : chunked'],
    ['a body that waits to be asked for', 'Content-Length: 12', 'Expect: 100-continue'],
    ['a connection that ends with it', 'Content-Length: 12', 'Connection: close'],
    ['more to say of its connection', 'Content-Length: 12', 'Connection: keep-alive, upgrade'],
    ['a line that goes on in the next', 'Content-Length: 12', 'X: a', ' b'],
    ['a line without a name', 'Content-Length: 12', ': a'],
    ['a line without a colon', 'Content-Length: 12', 'a'],
    ['a bare carriage return', 'Content-Length: 12', 'X: a\rb'],
    ['a character that no line has', 'Content-Length: 12', 'Transfer\0-Encoding: chunked'],
    ['another protocol', 'Content-Length: 12', 'Upgrade: h2c'],
  ])('is none with %s', (_name, ...lines) => {
    expect(plainRequest(head(...lines))).toBeUndefined();
  });

  it.each(['GET / HTTP/1.1\r\n', 'POST / HTTP/1.0\r\n', 'POST  / HTTP/1.1\r\n', '\r\nPOST / HTTP/1.1\r\n'])(
    'is none where it begins with %j',
    (line) => {
      expect(plainRequest(`${line}Content-Length: 12\r\n`)).toBeUndefined();
    },
  );
});
