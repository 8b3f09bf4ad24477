import { type IncomingMessage, request } from 'node:http';
import { ResponseParser } from '../../../src/net/http1/client/response-parser.ts';
import { MemorySocket, turns } from './memory-socket.ts';
import { pick, seededRandom } from './mutate.ts';
import { mutateBytes, piecesOf } from './mutate-bytes.ts';

/*
 * Responses read by our parser and by Node's own. We read some more than Node does, as `KNOWN_DIFFERENCES` lists;
 * everything that both accept must end in the same place, or bytes of one response would become part of the next.
 */

/** A complete response; undefined if the reader refused it or it did not end. */
type Reading = { readonly status: number; readonly body: string } | undefined;

export interface ResponseDifference {
  readonly pieces: readonly string[];
  readonly ours: Reading;
  readonly node: Reading;
}

const HEAD_BYTES = 64 * 1024;

/** The first response in the bytes of a connection, which come in pieces and then end. */
function readByUs(pieces: readonly string[]): Reading {
  const parser = new ResponseParser(HEAD_BYTES);
  let status = 0;
  let body = '';
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    const problem = parser.read(bytes, bytes.length);
    status = parser.takeHead()?.status ?? status;
    if (problem !== undefined) return undefined;
    body += bytes.toString('latin1', parser.bodyFrom, parser.bodyTo);
    if (parser.isEnded) return { status, body };
  }
  try {
    parser.close();
  } catch {
    return undefined;
  }
  return { status, body };
}

async function readByNode(pieces: readonly string[]): Promise<Reading> {
  const socket = new MemorySocket();
  let response: IncomingMessage | undefined;
  let hasFailed = false;
  const body: Buffer[] = [];
  const fail = () => {
    hasFailed = true;
  };
  const asking = request({ createConnection: () => socket.asSocket(), method: 'POST', host: 'a' });
  asking.on('error', fail);
  asking.on('response', (given) => {
    response = given;
    given.on('error', fail).on('aborted', fail);
    given.on('data', (piece: Buffer) => body.push(piece));
  });
  asking.end('{}');
  await turns(1);
  for (const piece of pieces) {
    socket.receive(piece);
    await turns(1);
  }
  socket.receive(null);
  await turns(2);
  const isWhole = response?.complete === true && (!hasFailed || response.readableEnded);
  asking.destroy();
  socket.destroy();
  if (response === undefined || !isWhole) return undefined;
  return { status: response.statusCode ?? 0, body: Buffer.concat(body).toString('latin1') };
}

interface KnownDifference {
  readonly reason: string;
  /** Whether bytes are of this kind. */
  readonly applies: (bytes: string) => boolean;
}

/** What we read and Node refuses. */
const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    reason:
      'Folded lines are joined, because old servers still write them; not those that frame the response.',
    applies: (bytes) => /\r\n[\t ]/.test(bytes),
  },
  {
    reason: 'Chunk extensions may be any text, because they are dropped; they end with their line for both.',
    applies: (bytes) => /\r\n[\da-f]+;/i.test(bytes),
  },
  {
    reason: 'Trailers may have any name, because they are dropped and frame nothing.',
    applies: (bytes) =>
      /transfer-encoding[\s\S]*\r\n0+\r\n[\s\S]*(?:content-length|transfer-encoding)/i.test(bytes),
  },
  {
    reason:
      'An interim response does not end the connection, whatever it says: the final response follows it.',
    applies: (bytes) => /^\s*HTTP\/1\.[01] 1\d\d/.test(bytes),
  },
  {
    reason:
      'The status 204 or 304 ends a response after its head, whatever coding it names; newer Nodes refuse some.',
    applies: (bytes) => /^\s*HTTP\/1\.[01] (?:204|304)/.test(bytes),
  },
];

const NEXT = 'HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nnext';
const HELLO = '5\r\nhello\r\n0\r\n\r\n';

function head(lines: string, status = 'HTTP/1.1 200 OK'): string {
  return `${status}\r\n${lines}\r\n`;
}

function chunked(body: string): string {
  return `${head('Transfer-Encoding: chunked\r\n')}${body}`;
}

/** Responses that both read, from which mutations are made. */
export const GOOD_RESPONSES: readonly string[] = [
  `${head('Content-Length: 5\r\n')}hello`,
  `${head('Content-Length: 5\r\nConnection: close\r\n')}hello`,
  `${head('Content-Length: 5\r\n')}hello${NEXT}`,
  `${head('Content-Length: 0\r\n')}`,
  `${head('Content-Type: text/plain\r\n')}until the end`,
  `${head('Connection: close\r\n', 'HTTP/1.0 200 OK')}until the end`,
  chunked(HELLO),
  chunked(`${HELLO}${NEXT}`),
  chunked('00A;a=b\r\n0123456789\r\n1;c="d e"\r\n!\r\n0\r\nX-Trailer: f\r\n\r\n'),
  `HTTP/1.1 100 Continue\r\n\r\n${head('Content-Length: 5\r\n')}hello`,
  `HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${chunked(HELLO)}`,
  head('', 'HTTP/1.1 204 No Content'),
  head('ETag: "a"\r\n', 'HTTP/1.1 304 Not Modified'),
  `${head('Content-Length: 5\r\n', 'HTTP/1.1 500')}hello`,
];

const STATUS_LINES = [
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.1  200 OK',
  'HTTP/1.1 200  OK',
  'HTTP/1.1\t200 OK',
  'HTTP/1.1 200\tOK',
  'HTTP/1.1 20 OK',
  'HTTP/1.1 2000 OK',
  'HTTP/1.1 099 OK',
  'HTTP/1.1 600 OK',
  'HTTP/1.1 999 OK',
  'HTTP/1.1 2x0 OK',
  'HTTP/1.1 +20 OK',
  'HTTP/1.1 200OK',
  'HTTP/1.1 200 O\0K',
  'HTTP/1.1 200 \x80',
  'HTTP/1.1 200 \x7f',
  'HTTP/1.1 200 O\rK',
  'HTTP/1.1 200 O\nK',
  'HTTP/1.0 200 OK',
  'HTTP/0.9 200 OK',
  'HTTP/1.2 200 OK',
  'HTTP/2.0 200 OK',
  'HTTP/1.10 200 OK',
  'http/1.1 200 OK',
  'ICY 200 OK',
  ' HTTP/1.1 200 OK',
  '\r\nHTTP/1.1 200 OK',
  '\nHTTP/1.1 200 OK',
  '\rHTTP/1.1 200 OK',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 102 Processing',
  'HTTP/1.1 199 OK',
];

const LENGTHS = [
  '+5',
  '-5',
  '5,5',
  '5, 5',
  '5 5',
  '0x5',
  '5.',
  '',
  '05',
  '5;',
  '"5"',
  '5\v',
  '5\t',
  '\t5',
  '9'.repeat(15),
  '9'.repeat(20),
];

const TWO_LENGTHS = [
  'Content-Length: 5\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 4',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
];

const CODINGS = [
  'Chunked',
  'chunked,',
  ',chunked',
  'chunked, chunked',
  'gzip, chunked',
  'chunked, gzip',
  'identity',
  '',
  'xchunked',
  'chunked;a',
  '"chunked"',
  'chunked\t',
  '\tchunked',
  'chunked\v',
  'gzip',
];

const FIELD_LINES = [
  'X : y',
  'X\t: y',
  ' X: y',
  ': y',
  'X',
  'X y: z',
  'X\0: y',
  'X\x80: y',
  'X(: y',
  'X:',
  'X: \0',
  'X: \x01',
  'X: \x7f',
  'X: \x80',
  'X: y\r',
  'X: y\rz',
  'X: y\nZ: a',
  'X: y\r\n z',
  'X: y\r\n\tz',
  'X:\r\n y',
  'Content-Length:\r\n 5',
  'Content-Length: 5\r\n 0',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked\r\n ',
  'Content-Length : 5',
  'Transfer-Encoding : chunked',
  'Connection: close',
  'Connection: upgrade\r\nUpgrade: x',
  'Upgrade: x',
  'Proxy-Connection: close',
];

const CHUNK_SIZES = [
  '',
  '05',
  `${'0'.repeat(20)}5`,
  '+5',
  '-5',
  '0x5',
  '5h',
  ' 5',
  '5 ',
  '5\t',
  '5\0',
  'f'.repeat(16),
  'f'.repeat(17),
  '4',
  '6',
  '5\r',
  '5\n',
];

const EXTENSIONS = [
  ';',
  ';;',
  '; a',
  ';a ',
  ' ;a',
  ';a=',
  ';=b',
  ';a="b',
  ';a="b"c',
  ';a=b;',
  ';a\x01',
  ';a="\x01"',
  ';\x80',
  ';a=(b)',
  ';a\n',
  ';a\rb',
];

const LINE_BREAKS = ['\n', '\r', '\n\r', '\r\r\n', '\r\n\r\n', '', ' \r\n', '\0'];

/** Responses by what is wrong, or unusual, about them. */
export const RESPONSE_CLASSES: Readonly<Record<string, readonly string[]>> = {
  'status lines': STATUS_LINES.flatMap((line) => [
    `${head('Content-Length: 5\r\n', line)}hello${NEXT}`,
    `${head('', line)}hello`,
    `${head('Transfer-Encoding: chunked\r\n', line)}${HELLO}${NEXT}`,
  ]),
  lengths: LENGTHS.map((length) => `${head(`Content-Length: ${length}\r\n`)}hello${NEXT}`),
  'two lengths': TWO_LENGTHS.flatMap((lines) => [
    `${head(`${lines}\r\n`)}hello${NEXT}`,
    `${head(`${lines}\r\n`)}${HELLO}${NEXT}`,
  ]),
  codings: CODINGS.flatMap((coding) => [
    `${head(`Transfer-Encoding: ${coding}\r\n`)}${HELLO}${NEXT}`,
    `${head(`Transfer-Encoding:${coding}\r\nConnection: close\r\n`)}hello`,
  ]),
  'field lines': FIELD_LINES.flatMap((line) => [
    `${head(`${line}\r\nContent-Length: 5\r\n`)}hello${NEXT}`,
    `${head(`Content-Length: 5\r\n${line}\r\n`)}hello${NEXT}`,
    `${head(`Transfer-Encoding: chunked\r\n${line}\r\n`)}${HELLO}${NEXT}`,
    `${head(`${line}\r\n`)}${HELLO}`,
    `HTTP/1.1 100 Continue\r\n${line}\r\n\r\n${head('Content-Length: 5\r\n')}hello`,
  ]),
  'bodies that must not be': ['204 No Content', '304 Not Modified', '101 Switching Protocols'].flatMap(
    (status) => [
      `${head('Content-Length: 5\r\n', `HTTP/1.1 ${status}`)}hello${NEXT}`,
      `${head('Transfer-Encoding: chunked\r\n', `HTTP/1.1 ${status}`)}${HELLO}${NEXT}`,
      `${head('Transfer-Encoding: gzip\r\n', `HTTP/1.1 ${status}`)}${NEXT}`,
    ],
  ),
  'chunk sizes': CHUNK_SIZES.flatMap((size) => [
    chunked(`${size}\r\nhello\r\n0\r\n\r\n${NEXT}`),
    chunked(`5\r\nhello\r\n${size.replaceAll('5', '0')}\r\n\r\n${NEXT}`),
  ]),
  'chunk extensions': EXTENSIONS.flatMap((extension) => [
    chunked(`5${extension}\r\nhello\r\n0\r\n\r\n${NEXT}`),
    chunked(`5\r\nhello\r\n0${extension}\r\n\r\n${NEXT}`),
  ]),
  'line breaks': LINE_BREAKS.flatMap((lineBreak) => [
    chunked(`5${lineBreak}hello\r\n0\r\n\r\n`),
    chunked(`5\r\nhello${lineBreak}0\r\n\r\n`),
    chunked(`5\r\nhello\r\n0${lineBreak}\r\n`),
    chunked(`5\r\nhello\r\n0\r\n${lineBreak}`),
    chunked(`0\r\nX: y${lineBreak}\r\n`),
    `HTTP/1.1 200 OK${lineBreak}Content-Length: 5\r\n\r\nhello`,
    `HTTP/1.1 200 OK\r\nContent-Length: 5${lineBreak}\r\nhello`,
    `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${lineBreak}hello`,
    `HTTP/1.1 100 Continue\r\n\r\n${lineBreak}${NEXT}`,
    `${lineBreak}${NEXT}`,
  ]),
  trailers: [...FIELD_LINES, 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Connection: close'].map(
    (line) => chunked(`5\r\nhello\r\n0\r\n${line}\r\n\r\n${NEXT}`),
  ),
  'cut off': [
    `${head('Content-Length: 9\r\n')}hello`,
    chunked('5\r\nhel'),
    chunked('5\r\nhello\r\n'),
    chunked('5\r\nhello\r\n0\r\n'),
    'HTTP/1.1 200 OK\r\n',
    '',
  ],
};

/** What mutations put in. */
const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\r\n ',
  '\t',
  ' ',
  ':',
  ';',
  ',',
  '"',
  '\0',
  '\v',
  '\x7f',
  '\x80',
  '0',
  '1',
  'f',
  '\r\n\r\n',
  '0\r\n\r\n',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  NEXT,
];

export async function readResponse(pieces: readonly string[]): Promise<ResponseDifference> {
  return { pieces, ours: readByUs(pieces), node: await readByNode(pieces) };
}

/** Cases that we accept and Node refuses or frames differently, other than the known ones. */
export async function responseDifferences(cases: Iterable<readonly string[]>): Promise<ResponseDifference[]> {
  const found: ResponseDifference[] = [];
  for (const pieces of cases) {
    const reading = await readResponse(pieces);
    const { ours, node } = reading;
    if (ours === undefined || (ours.status === node?.status && ours.body === node.body)) continue;
    const isKnown = node === undefined && KNOWN_DIFFERENCES.some(({ applies }) => applies(pieces.join('')));
    if (!isKnown) found.push(reading);
  }
  return found;
}

/** `count` mutations of the corpus, some of them cut in two. The same for the same seed. */
export function* mutatedResponses(count: number, seed: number): Generator<readonly string[]> {
  const random = seededRandom(seed);
  const seeds = [...GOOD_RESPONSES, ...GOOD_RESPONSES, ...Object.values(RESPONSE_CLASSES).flat()];
  for (let index = 0; index < count; index++) {
    const once = mutateBytes(random, pick(random, seeds), PIECES);
    const text = random() < 0.33 ? mutateBytes(random, once, PIECES) : once;
    yield piecesOf(random, text);
  }
}
