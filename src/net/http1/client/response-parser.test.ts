import { describe, expect, it } from 'vitest';
import { type ResponseHead, ResponseParser } from './response-parser.ts';
import { TransportProblem } from './transport-problem.ts';

interface Reading {
  readonly head: ResponseHead | undefined;
  readonly body: string;
  readonly isEnded: boolean;
  readonly isLast: boolean;
}

const HEAD_BYTES = 1024;

/** Reads pieces, each from the front of one buffer that still holds what was read before. */
function readAll(pieces: readonly string[], parser = new ResponseParser(HEAD_BYTES)): Reading {
  const buffer = Buffer.alloc(4096, '\r\n');
  let body = '';
  for (const piece of pieces) {
    const length = buffer.write(piece, 'latin1');
    const problem = parser.read(buffer, length);
    if (problem !== undefined) throw problem;
    body += buffer.toString('latin1', parser.bodyFrom, parser.bodyTo);
  }
  const { isEnded, isLast } = parser;
  return { head: parser.takeHead(), body, isEnded, isLast };
}

function problemOf(pieces: readonly string[]): TransportProblem | undefined {
  try {
    readAll(pieces);
  } catch (thrown) {
    return thrown instanceof TransportProblem ? thrown : undefined;
  }
  return undefined;
}

function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\r\n`).join('');
}

const CHUNKED = lines(
  'HTTP/1.1 200 OK',
  'Content-Type: text/event-stream',
  'Transfer-Encoding: chunked',
  'X-Twice: a',
  'x-twice:\tb ',
  '',
  '5;name="a value"',
  'hello',
  '0a',
  ' the world',
  '1',
  '\r',
  '000',
  'x-trailer: yes',
  '',
);

const RESPONSES: readonly (readonly [name: string, text: string, expected: object])[] = [
  [
    'chunks, with extensions and trailers',
    CHUNKED,
    {
      head: {
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', 'x-twice': 'a, b' },
      },
      body: 'hello the world\r',
      isEnded: true,
      isLast: false,
    },
  ],
  [
    'chunks, without trailers',
    lines('HTTP/1.1 200 OK', 'transfer-encoding: Chunked', '', '3', 'abc', '0', ''),
    { body: 'abc', isEnded: true, isLast: false },
  ],
  [
    'a length',
    `${lines('HTTP/1.1 201 Created', 'Content-Length: 3', 'X-Latin: \xe9', '')}abc`,
    {
      head: { status: 201, headers: { 'content-length': '3', 'x-latin': '\xe9' } },
      body: 'abc',
      isEnded: true,
      isLast: false,
    },
  ],
  ['nothing', lines('HTTP/1.1 200 OK', 'content-length: 0', ''), { body: '', isEnded: true }],
  ['no body by status', lines('HTTP/1.1 204', 'content-length: 7', ''), { body: '', isEnded: true }],
  ['not modified', lines('HTTP/1.1 304 x', 'transfer-encoding: chunked', ''), { body: '', isEnded: true }],
  [
    'interim responses',
    lines('HTTP/1.1 100 Continue', '', 'HTTP/1.1 103 Hints', 'link: x', '', 'HTTP/1.1 204 Done', ''),
    { head: { status: 204, headers: {} }, isEnded: true, isLast: false },
  ],
  [
    'line breaks before it and its hints',
    `\n\r\n${lines('HTTP/1.1 100 Continue', '', '', 'HTTP/1.1 204 Done', '')}`,
    { head: { status: 204, headers: {} }, isEnded: true, isLast: false },
  ],
  [
    'folded lines',
    lines('HTTP/1.1 200 OK', 'a: b', ' c', '\t d', 'e:', ' f', 'transfer-encoding: chunked', '').concat(
      lines('0', 't: u', ' v', ''),
    ),
    { head: { status: 200, headers: { a: 'b c d', e: 'f', 'transfer-encoding': 'chunked' } }, isEnded: true },
  ],
  [
    'bytes until the connection closes',
    `${lines('HTTP/1.1 200 OK', '')}all that comes`,
    { body: 'all that comes', isEnded: false },
  ],
  ['HTTP/1.0', lines('HTTP/1.0 204 OK', 'connection: keep-alive', ''), { isEnded: true, isLast: true }],
  ['a close', lines('HTTP/1.1 204 OK', 'Connection: x, Close', ''), { isEnded: true, isLast: true }],
  [
    'bytes after its end',
    `${lines('HTTP/1.1 200 OK', 'content-length: 1', '')}abc`,
    { body: 'a', isEnded: true, isLast: true },
  ],
  [
    'field names that objects inherit',
    lines('HTTP/1.1 204 OK', 'constructor: a', '__proto__: b', 'toString: c', ''),
    { head: { status: 204, headers: { constructor: 'a', tostring: 'c' } } },
  ],
];

describe('a response', () => {
  it.each(RESPONSES)(
    'with %s is parsed from one piece, from any two, and byte by byte',
    (_name, text, expected) => {
      expect(readAll([text])).toMatchObject(expected);
      for (let at = 1; at < text.length; at++) {
        expect(readAll([text.slice(0, at), text.slice(at)])).toMatchObject(expected);
      }
      expect(readAll([...text])).toMatchObject(expected);
    },
  );

  it('may follow another', () => {
    const parser = new ResponseParser(HEAD_BYTES);
    for (const text of [CHUNKED, CHUNKED]) {
      parser.begin();
      expect(readAll([text], parser)).toMatchObject({ body: 'hello the world\r', isEnded: true });
    }
  });

  it('is complete at the close of the connection only if it has no other length', () => {
    const open = new ResponseParser(HEAD_BYTES);
    readAll([`${lines('HTTP/1.1 200 OK', '')}abc`], open);
    open.close();
    expect(open.isEnded).toBe(true);
    for (let at = 0; at < CHUNKED.length; at++) {
      const parser = new ResponseParser(HEAD_BYTES);
      readAll([CHUNKED.slice(0, at)], parser);
      expect(() => parser.close()).toThrow('connection closed before the answer ended');
    }
  });
});

describe('the response parser refuses', () => {
  const field = (line: string) => lines('HTTP/1.1 200 OK', line, '');
  const chunk = (line: string) => `${lines('HTTP/1.1 200 OK', 'transfer-encoding: chunked', '')}${line}`;
  const NOT_HTTP: readonly string[] = [
    'garbage',
    'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1 200 O\x01K\r\n\r\n',
    ' \r\nHTTP/1.1 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\n\n',
    'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n',
    lines('HTTP/1.1 101 Switching', ''),
    field('Content-Length: 5\t'),
    field('Transfer-Encoding: chunked\t'),
    field('no colon'),
    field(': no name'),
    field('a name: x'),
    field('name : x'),
    field('content-length:\r\n 1'),
    field('Transfer-Encoding: x,\r\n\tchunked'),
    'HTTP/1.1 200 OK\r\n name: folded\r\n\r\n',
    field('name: x\r\n \x01'),
    field('name: \0'),
    field('name: \r'),
    field('name: \x7f'),
    field('content-length: 1\r\ntransfer-encoding: chunked'),
    field('content-length: 1\r\ncontent-length: 2'),
    field('content-length: 1\r\ncontent-length: 1'),
    field('content-length: 1, 1'),
    field('content-length: -1'),
    field('content-length: +1'),
    field('content-length: 0x1'),
    field('content-length: 1234567890123456'),
    field('content-length:'),
    field('transfer-encoding: gzip, chunked'),
    field('transfer-encoding: chunked, chunked'),
    field('transfer-encoding: chunked\r\ntransfer-encoding: chunked'),
    field('transfer-encoding: xchunked'),
    field('transfer-encoding:'),
    chunk('\r\n'),
    chunk(';x\r\n'),
    chunk('g\r\n'),
    chunk('-1\r\n'),
    chunk('0x1\r\n'),
    chunk('1 \r\na\r\n'),
    chunk(' 1\r\na\r\n'),
    chunk('1\na\r\n'),
    chunk('1\r\rb'),
    chunk('1;a\nb\r\na\r\n'),
    chunk('1\r\nab\r\n'),
    chunk('1\r\na\n'),
    chunk('1\r\na\rb'),
    chunk('fffffffffffffff\r\n'),
    chunk('0\r\nno colon\r\n\r\n'),
    chunk('0\r\na: b\nc: d\r\n\r\n'),
    chunk('0\r\n folded: x\r\n\r\n'),
  ];

  it.each(NOT_HTTP)('%j, in one piece and byte by byte', (text) => {
    for (const pieces of [[text], [...text]]) {
      expect(problemOf(pieces)).toMatchObject({ reason: 'reset', message: 'the answer is not valid HTTP' });
    }
  });

  it('extensions without end', () => {
    const pieces = [chunk('1;'), ...Array.from({ length: 5 }, () => 'x'.repeat(1000))];
    expect(problemOf(pieces)?.reason).toBe('reset');
  });

  it.each([
    ['a head', ['HTTP/1.1 200 OK\r\n', ...Array.from({ length: 100 }, () => `name: ${'x'.repeat(10)}\r\n`)]],
    ['a head in one piece', [field(`name: ${'x'.repeat(1024)}`)]],
    ['interim responses', Array.from({ length: 100 }, () => lines('HTTP/1.1 102 Processing', ''))],
    ['trailers', [chunk('0\r\n'), ...Array.from({ length: 100 }, () => `name: ${'x'.repeat(10)}\r\n`)]],
  ])('%s that are too large', (_name, pieces) => {
    expect(problemOf(pieces)?.reason).toBe('too-large');
  });
});
