import { describe, expect, it } from 'vitest';
import { scanHead } from './scan-head.ts';

const head = (...lines: string[]) =>
  `POST /v1/messages HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}`;

describe('the scan of a head', () => {
  it.each([
    ['Host: a', 'Content-Length: 12'],
    ['content-length:12', 'Connection: keep-alive', 'Host: a'],
    ['Host: a', 'CONNECTION: Keep-Alive', 'CONTENT-LENGTH:  12'],
  ])('finds the length: %s', (...lines) => {
    expect(scanHead(head(...lines))).toEqual({ target: '/v1/messages', length: 12 });
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
    ['an expected 100 Continue', 'Content-Length: 12', 'Expect: 100-continue'],
    ['a connection that ends with it', 'Content-Length: 12', 'Connection: close'],
    ['another connection option', 'Content-Length: 12', 'Connection: keep-alive, upgrade'],
    ['a folded line', 'Content-Length: 12', 'X: a', ' b'],
    ['a line without a name', 'Content-Length: 12', ': a'],
    ['a line without a colon', 'Content-Length: 12', 'a'],
    ['a bare carriage return', 'Content-Length: 12', 'X: a\rb'],
    ['a character that no line has', 'Content-Length: 12', 'Transfer\0-Encoding: chunked'],
    ['another protocol', 'Content-Length: 12', 'Upgrade: h2c'],
  ])('leaves it to the parser: %s', (_name, ...lines) => {
    expect(scanHead(head(...lines))).toBeUndefined();
  });

  it.each(['GET / HTTP/1.1\r\n', 'POST / HTTP/1.0\r\n', 'POST  / HTTP/1.1\r\n', '\r\nPOST / HTTP/1.1\r\n'])(
    'leaves it to the parser if it begins with %j',
    (line) => {
      expect(scanHead(`${line}Content-Length: 12\r\n`)).toBeUndefined();
    },
  );
});
