import { createServer, type IncomingMessage } from 'node:http';
import { Cohort } from '../../../src/kit/loop/cohort.ts';
import { ServerConnection, type ServerConnectionOwner } from '../../../src/net/http1/server/connection.ts';
import { MemorySocket, turns } from './memory-socket.ts';
import { pick, seededRandom } from './mutate.ts';
import { mutateBytes, piecesOf } from './mutate-bytes.ts';

/*
 * Requests read by our parser and by Node's own. A request that we accept and Node refuses, or frames differently,
 * would let one caller forge the request of another wherever a server like Node stands before us or behind us.
 */

/** Requests that one reader took from the bytes of a connection: method, target, fields and body of each. */
type Reading = readonly string[];

/** Reads the bytes of one connection, which come in pieces, to their end. */
type Reader = (pieces: readonly string[]) => Promise<Reading>;

export interface Difference {
  readonly pieces: readonly string[];
  readonly ours: Reading;
  readonly node: Reading;
}

interface Named {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
}

const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

function nameOf({ method, url, rawHeaders }: Named, body: readonly Buffer[]): string {
  return `${method} ${url} ${JSON.stringify(rawHeaders)} ${Buffer.concat(body).toString('latin1')}`;
}

async function feed(socket: MemorySocket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.receive(piece);
    await turns(2);
  }
  socket.receive(null);
  await turns(2);
  socket.destroy();
}

/** Node's own parser, as strict as it is by default. A missing Host is refused by the gateway, not by its parser. */
const readByNode: Reader = async (pieces) => {
  const seen: { readonly request: IncomingMessage; readonly body: Buffer[] }[] = [];
  const server = createServer(
    { insecureHTTPParser: false, requireHostHeader: false },
    (request, response) => {
      const body: Buffer[] = [];
      seen.push({ request, body });
      request.on('data', (piece: Buffer) => body.push(piece));
      request.on('error', ignore);
      response.on('error', ignore);
      // With a length, HTTP/1.0 keeps its connection as well.
      request.on('end', () => response.setHeader('Content-Length', 0).end());
    },
  );
  // By default Node answers unknown expectations itself, which says nothing about framing.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('clientError', () => {
    // Content that the parser has passed on and that was not read yet.
    for (const { request } of seen) while (request.read() !== null);
  });
  const socket = new MemorySocket();
  server.emit('connection', socket);
  await feed(socket, pieces);
  return seen.filter(({ request }) => request.complete).map(({ request, body }) => nameOf(request, body));
};

const LIMITS = {
  headersMs: 5_000,
  requestMs: 5_000,
  idleMs: 5_000,
  lingerMs: 100,
  discardMs: 100,
  maxHeadBytes: 16_384,
  maxPipelined: 16,
};

const ARRIVALS = new Cohort<ServerConnection>((connection) => connection.onTurnEnd());

const readByUs: Reader = async (pieces) => {
  const requests: string[] = [];
  const owner: ServerConnectionOwner = {
    limits: LIMITS,
    arrivals: ARRIVALS,
    isOverloaded: () => false,
    takesReservedShare: () => false,
    mayTurnAwayEarly: () => false,
    turnAway: () => undefined,
    accept: (request, response) => {
      const body: Buffer[] = [];
      const isRefused = request.framing.problem !== undefined;
      const end = () => {
        if (!isRefused) requests.push(nameOf(request, body));
        response.write(RESPONSE, 'latin1');
        if (isRefused) response.endLingering();
        else response.end();
      };
      if (isRefused) end();
      else request.read({ piece: (bytes) => body.push(bytes) > 0, end, cut: () => response.destroy() });
    },
    refuse: (connection) => connection.endWith('HTTP/1.1 400 Bad Request\r\n\r\n'),
    onIdle: ignore,
    onClosed: ignore,
    beginDiscarding: () => false,
    endDiscarding: ignore,
  };
  const socket = new MemorySocket();
  new ServerConnection(socket.asSocket(), owner);
  await feed(socket, pieces);
  return requests;
};

const GET = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';

function get(headers: string, after = ''): string {
  return `GET /g HTTP/1.1\r\nHost: a\r\n${headers}\r\n${after}`;
}

function post(headers: string, body: string): string {
  return `POST /p HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
}

function chunked(body: string): string {
  return post('Transfer-Encoding: chunked\r\n', body);
}

/** Requests that both take, from which the others are made. */
export const GOOD_REQUESTS: readonly string[] = [
  GET,
  get('', GET),
  get('Connection: close\r\n'),
  get('Connection: close\r\n', '\r\n'),
  post('Content-Length: 5\r\n', `hello${GET}`),
  post('Content-Length: 5  \r\nX-A: b\t\r\n', `hello\r\n${GET}`),
  post('Connection: keep-alive\r\nContent-Length: 0\r\n', GET),
  chunked(`5\r\nhello\r\n0\r\n\r\n${GET}`),
  chunked(`5;a=b\r\nhello\r\n00;c;d="e \\"f"\r\nX-Trailer: g\r\n\r\n${GET}`),
  chunked(`00A\r\n0123456789\r\n1\r\n!\r\n0\r\nA: b\r\nC: d\r\n\r\n${GET}`),
  'GET /old HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /old HTTP/1.0\r\n\r\n',
  `\r\n\r\n${GET}\r\n${GET}`,
];

const LENGTHS = [
  '5\t',
  '\t5',
  ' 5\t ',
  '+5',
  '-5',
  '5,5',
  '5 5',
  '0x5',
  '5.',
  '',
  '٥',
  '5;',
  '"5"',
  '5\v',
  '5\f',
];

const CODINGS = [
  'chunked\t',
  '\tchunked',
  'chunked\t ',
  'Chunked',
  'chunked,',
  ',chunked',
  'chunked, chunked',
]
  .concat([
    'gzip, chunked',
    'chunked, gzip',
    'chunked;a=b',
    'identity',
    '',
    'xchunked',
    'chunkedx',
    '"chunked"',
  ])
  .concat(['chunked\v', '\vchunked', 'chunked chunked', 'chunked\x00', 'chun ked']);

const EXTENSIONS = [
  ';',
  ';;',
  '; a',
  ';a ',
  ' ;a',
  ';a=',
  ';=b',
  ';a=b=c',
  ';a="b',
  ';a="b"c',
  ';a=b"c"',
  ';a="b\\"',
]
  .concat([
    ';a\x01',
    ';a="\x01"',
    ';a="\x7f"',
    ';a=b\n',
    ';a\nb',
    ';a="b\n"',
    ';a="b\\\n"',
    ' ',
    '\t',
    ';a=b;',
    ';a:b',
  ])
  .concat([
    ';a=b c',
    ';a=(b)',
    ';a=b,c',
    ';a="b";',
    ';a="b" ',
    ';\x80',
    ';a=\x80',
    ';a="\x80"',
    '\x00',
    ';a\r',
  ]);

const TRAILERS = [
  'Content-Length: 5',
  'content-length: 0',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
]
  .concat(['Connection: close', 'Connection: keep-alive', 'Proxy-Connection: close', 'Upgrade: x', 'Host: b'])
  .concat(['X', ': x', 'X : y', 'X: \x01', ' X: y', 'X: y\r\n z', 'X: y\nZ: a', 'X\x00: y', 'TE: trailers']);

const OPTIONS = [
  'close',
  'Close',
  ' close ',
  'close\t',
  '\tclose',
  'close,',
  ',close',
  'keep-alive, close',
  'close, keep-alive',
]
  .concat([
    'x, close',
    'close x',
    'x close',
    'close;a',
    'closed',
    'xclose',
    'upgrade',
    'upgrade, close',
    'keep-alive\tclose',
  ])
  .concat([
    'close\r\nConnection: keep-alive',
    'keep-alive\r\nConnection: close',
    '"close"',
    'close\v',
    'te\tclose',
  ]);

/** What stands in place of `GET /g HTTP/1.1`. */
const REQUEST_LINES = [
  'GET  /g HTTP/1.1',
  'GET /g  HTTP/1.1',
  'GET\t/g HTTP/1.1',
  'GET /g\tHTTP/1.1',
  ' GET /g HTTP/1.1',
  'GET /g HTTP/1.1 ',
  'GET /g',
  'GET /g HTTP/1.1\r',
  'get /g HTTP/1.1',
  'GETT /g HTTP/1.1',
  'GE\0T /g HTTP/1.1',
  'GET /g\0 HTTP/1.1',
  'GET /\x80 HTTP/1.1',
  'GET /\x7f HTTP/1.1',
  'GET /a b HTTP/1.1',
  'GET g HTTP/1.1',
  'GET * HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET *a HTTP/1.1',
  'GET http://a/g HTTP/1.1',
  'GET http:/a HTTP/1.1',
  'GET h1://a HTTP/1.1',
  'GET ://a HTTP/1.1',
  'GET http:// HTTP/1.1',
  'GET http://a b/ HTTP/1.1',
  'GET http://u@a/ HTTP/1.1',
  'GET http://u@@a/ HTTP/1.1',
  'GET http://[::1]/ HTTP/1.1',
  'GET http://a\\b/ HTTP/1.1',
  'GET http://a?b HTTP/1.1',
  'GET http://a#b HTTP/1.1',
  'GET /g#h HTTP/1.1',
  'GET /g?h?i#j#k HTTP/1.1',
  'GET ?a HTTP/1.1',
  'GET #a HTTP/1.1',
  'GET //a HTTP/1.1',
  'GET /"<>\\^`{|} HTTP/1.1',
  'CONNECT a:1 HTTP/1.1',
  'CONNECT /a HTTP/1.1',
  'PRI * HTTP/2.0',
  'SOURCE /g ICE/1.0',
  'M-SEARCH * HTTP/1.1',
  'DESCRIBE /g RTSP/1.0',
  'QUERY /g HTTP/1.1',
];

const VERSIONS = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/1',
  'HTTP/1.',
  'HTTP/.1',
  'HTTP/1.10',
  'HTTP/01.1',
  'HTTP/1.01',
  'HTTP/+1.1',
  'HTTP/1,1',
  'http/1.1',
  'HTTP 1.1',
  'HTTPS/1.1',
  'HTTP/3.0',
  '\xa0HTTP/1.1',
];

/** Field lines, without the line break. */
const FIELD_LINES = [
  'X : y',
  'X\t: y',
  ' X: y',
  '\tX: y',
  ': y',
  'X',
  '',
  'X y: z',
  'X\0: y',
  'X\x80: y',
  'X\x7f: y',
  'X(: y',
  'X": y',
  'X/: y',
  'X[]: y',
  'X{}: y',
  "!#$%&'*+-.^_`|~0aA: y",
  'X:',
  'X:: y',
  'X: \0',
  'X: \x01',
  'X: \x0b',
  'X: \x0c',
  'X: \x1f',
  'X: \x7f',
  'X: \x80\xff',
  'X:\ty\t',
  'X:y',
  'X:  y  ',
  'X: y\r',
  'X: y\rz',
  'X: y\nZ: a',
  'X: y\n',
  '\nX: y',
  '\rX: y',
  'X: y\r\r',
  'X: y\n\r',
  'X: y\r\n z',
  'X: y\r\n\tz',
  'X: y\r\n ',
  'X: \r\n y',
  'X:\r\n\ty',
  'Content-Length: 5\r\n 0',
  'Content-Length:\r\n 5',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding: chunked\r\n ',
  'Transfer-Encoding: \r\n\tchunked',
  'Content\r\n-Length: 5',
  'Content-Length : 5',
  'Content-Length\t: 5',
  'Content_Length: 5',
  'Content-Length\x00: 5',
  '\x0bContent-Length: 5',
  'Transfer-Encoding : chunked',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding\x0b: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
];

/** Lines that frame a body in two ways. */
const TWO_LENGTHS = [
  'Content-Length: 5\r\nContent-Length: 5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5\r\ncontent-length: 5',
  'Content-Length: 5\r\nX: y\r\nContent-Length: 0',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Content-Length: 5\r\nTransfer-Encoding: identity',
  'Content-Length: 5\r\nTransfer-Encoding:',
  'Content-Length:\r\nTransfer-Encoding: chunked',
  'Content-Length: 5\r\nTransfer-Encoding: xchunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding:',
  'Transfer-Encoding:\r\nTransfer-Encoding: chunked',
];

/** Before the line break of a chunk of five bytes. */
const CHUNK_SIZES = [
  '',
  '05',
  '0000000000005',
  '00000000000005',
  '0000000000000005',
  '00000000000000005',
  '+5',
  '-5',
  '0x5',
  '0X5',
  '5h',
  '5.0',
  '5,5',
  ' 5',
  '5 ',
  '\t5',
  '5\t',
  '5\0',
  '\x0b5',
  'ffffffffffffffff',
  'fffffffffffffffff',
  '10000000000000005',
  '100000000000005',
  '4',
  '6',
  '5\r',
  '5\n',
  '5\r\r',
  '5\n5',
  '\xb5',
];

/** In place of the line breaks of a chunked body. */
const LINE_BREAKS = ['\n', '\r', '\n\r', '\r\r\n', '\r\n\r\n', '\r\n ', '', ' \r\n', '\0', '\x85', '\v'];

const EXPECTATIONS = [
  '100-continue',
  '100-Continue',
  '100-continue, x',
  'x',
  '',
  '200-ok',
  '100-continue\t',
  '100',
];

const UPGRADES = [
  'Connection: upgrade\r\nUpgrade: websocket',
  'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA',
  'Connection: keep-alive, upgrade\r\nUpgrade: x',
  'Upgrade: websocket',
  'Connection: upgrade',
  'Connection: upgrade\r\nUpgrade:',
];

const HOSTS = [
  'a b',
  'a\tb',
  'a\x01',
  'a\x7f',
  ' a',
  'a\r\nHost: b',
  '',
  '[::1]:1',
  'a:b',
  'a/b',
  'a@b',
  'a\0',
];

const HELLO = '5\r\nhello\r\n0\r\n\r\n';

/** Requests by what is wrong, or unusual, about them. Each is followed by another, which shows where it ended. */
export const REQUEST_CLASSES: Readonly<Record<string, readonly string[]>> = {
  'request lines': REQUEST_LINES.map((line) => `${line}\r\nHost: a\r\n\r\n${GET}`),
  versions: [
    ...VERSIONS.map((version) => `GET /g ${version}\r\nHost: a\r\n\r\n${GET}`),
    ...VERSIONS.map((version) => `POST /p ${version}\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello${GET}`),
    ...VERSIONS.map(
      (version) => `POST /p ${version}\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${HELLO}${GET}`,
    ),
    ...VERSIONS.map((version) => `GET /g ${version}\r\nHost: a\r\nConnection: keep-alive\r\n\r\n${GET}`),
  ],
  'field lines': [
    ...FIELD_LINES.map((line) => get(`${line}\r\n`, GET)),
    ...FIELD_LINES.map((line) => `GET /g HTTP/1.1\r\n${line}\r\nHost: a\r\n\r\n${GET}`),
    ...FIELD_LINES.map((line) => post(`${line}\r\nContent-Length: 5\r\n`, `hello${GET}`)),
    ...FIELD_LINES.map((line) => post(`Content-Length: 5\r\n${line}\r\n`, `hello${GET}`)),
    ...FIELD_LINES.map((line) => post(`${line}\r\n`, `${HELLO}${GET}`)),
    ...FIELD_LINES.map((line) => post(`Transfer-Encoding: chunked\r\n${line}\r\n`, `${HELLO}${GET}`)),
  ],
  lengths: [
    ...LENGTHS.map((length) => post(`Content-Length: ${length}\r\n`, `hello${GET}`)),
    ...LENGTHS.map((length) => get(`Content-Length:${length}\r\n`, `hello${GET}`)),
  ],
  'two lengths': [
    ...TWO_LENGTHS.map((lines) => post(`${lines}\r\n`, `hello${GET}`)),
    ...TWO_LENGTHS.map((lines) => post(`${lines}\r\n`, `${HELLO}${GET}`)),
    ...TWO_LENGTHS.map((lines) => post(`${lines}\r\n`, `0\r\n\r\n${GET}`)),
  ],
  codings: [
    ...CODINGS.map((coding) => post(`Transfer-Encoding: ${coding}\r\n`, `${HELLO}${GET}`)),
    ...CODINGS.map((coding) => post(`Transfer-Encoding:${coding}\r\n`, `0\r\n\r\n${GET}`)),
    ...CODINGS.map((coding) => post(`tRANSFER-eNCODING: ${coding}\r\n`, `hello${GET}`)),
  ],
  'chunk sizes': [
    ...CHUNK_SIZES.map((size) => chunked(`${size}\r\nhello\r\n0\r\n\r\n${GET}`)),
    ...CHUNK_SIZES.map((size) => chunked(`5\r\nhello\r\n${size.replaceAll('5', '0')}\r\n\r\n${GET}`)),
  ],
  'chunk extensions': [
    ...EXTENSIONS.map((extension) => chunked(`5${extension}\r\nhello\r\n0\r\n\r\n${GET}`)),
    ...EXTENSIONS.map((extension) => chunked(`5\r\nhello\r\n0${extension}\r\n\r\n${GET}`)),
  ],
  'line breaks of chunks': LINE_BREAKS.flatMap((lineBreak) => [
    chunked(`5${lineBreak}hello\r\n0\r\n\r\n${GET}`),
    chunked(`5\r\nhello${lineBreak}0\r\n\r\n${GET}`),
    chunked(`5\r\nhello\r\n0${lineBreak}\r\n${GET}`),
    chunked(`5\r\nhello\r\n0\r\n${lineBreak}${GET}`),
    chunked(`5;a${lineBreak}hello\r\n0\r\n\r\n${GET}`),
    chunked(`0\r\nX: y${lineBreak}\r\n${GET}`),
    chunked(`0\r\nX: y\r\n${lineBreak}${GET}`),
  ]),
  trailers: [...TRAILERS, ...FIELD_LINES].map((trailer) =>
    chunked(`${HELLO.slice(0, -2)}${trailer}\r\n\r\n${GET}`),
  ),
  'line breaks of heads': LINE_BREAKS.flatMap((lineBreak) => [
    `GET /g HTTP/1.1${lineBreak}Host: a\r\n\r\n${GET}`,
    `GET /g HTTP/1.1\r\nHost: a${lineBreak}\r\n${GET}`,
    `GET /g HTTP/1.1\r\nHost: a\r\n${lineBreak}${GET}`,
    `${GET}${lineBreak}${GET}`,
    `${lineBreak}${GET}`,
    `POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5${lineBreak}\r\nhello${GET}`,
    `${post('Content-Length: 5\r\n', 'hello')}${lineBreak}${GET}`,
    `${chunked(HELLO)}${lineBreak}${GET}`,
  ]),
  'connection options': [
    ...OPTIONS.map((option) => get(`Connection: ${option}\r\n`, GET)),
    ...OPTIONS.map((option) => get(`Proxy-Connection: ${option}\r\n`, GET)),
    ...OPTIONS.map((option) => post(`Connection: ${option}\r\nContent-Length: 5\r\n`, `hello${GET}`)),
    ...OPTIONS.map((option) =>
      post(`Transfer-Encoding: chunked\r\nConnection: ${option}\r\n`, `${HELLO}${GET}`),
    ),
    ...OPTIONS.map((option) => get(`Connection: ${option}\r\n`, '\r\n')),
    'GET /old HTTP/1.0\r\nConnection: close\r\n\r\nGET /old HTTP/1.0\r\n\r\n',
    `GET /old HTTP/1.0\r\n\r\n${GET}`,
    `GET /old HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello${GET}`,
  ],
  hosts: HOSTS.map((host) => GET.replace('Host: a', `Host: ${host}`) + GET),
  expectations: EXPECTATIONS.flatMap((expectation) => [
    get(`Expect: ${expectation}\r\n`, GET),
    post(`Expect: ${expectation}\r\nContent-Length: 5\r\n`, `hello${GET}`),
    post(`Expect: ${expectation}\r\nTransfer-Encoding: chunked\r\n`, `${HELLO}${GET}`),
  ]),
  upgrades: UPGRADES.flatMap((lines) => [
    get(`${lines}\r\n`, GET),
    post(`${lines}\r\nContent-Length: 5\r\n`, `hello${GET}`),
    post(`${lines}\r\nTransfer-Encoding: chunked\r\n`, `${HELLO}${GET}`),
  ]),
  'bodies without a length': [
    post('', `hello${GET}`),
    get('', `hello${GET}`),
    `DELETE /d HTTP/1.1\r\nHost: a\r\n\r\n${GET}`,
    `HEAD /h HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello${GET}`,
    `GET /g HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello${GET}`,
  ],
  pipelines: [
    `${GET}GARBAGE\r\n\r\n`,
    `${post('Content-Length: 5\r\n', 'hello')}GARBAGE\r\n\r\n${GET}`,
    `${GET}${GET}\0`,
    `${chunked(HELLO)}${post('Content-Length: 5\r\n', 'hello')}${chunked(HELLO)}${GET}`,
    `${get('Connection: close\r\n')}${chunked(HELLO)}`,
    GET.repeat(12),
  ],
};

/** What mutations put in. */
const PIECES = [
  '\r',
  '\n',
  '\r\n',
  '\t',
  ' ',
  ':',
  ';',
  ',',
  '"',
  '=',
  '\\',
  '\0',
  '\v',
  '\x7f',
  '\x80',
  '0',
  '1',
  'f',
  'A',
].concat([
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  '\r\n\r\n',
  '0\r\n\r\n',
]);

export async function readRequests(pieces: readonly string[]): Promise<Difference> {
  const [ours, node] = await Promise.all([readByUs(pieces), readByNode(pieces)]);
  return { pieces, ours, node };
}

/**
 * Node ignores an upgrade to another protocol as we do, but then drops what follows the request in the same read. We
 * read it as the next request (RFC 9110, 7.8): no 101 was sent, so the connection still speaks HTTP/1.1.
 */
const UPGRADE = /^\S+ \S+ \[.*"upgrade",/i;

function isDifferent({ ours, node }: Difference): boolean {
  const upgrade = node.findIndex((request) => UPGRADE.test(request));
  const compared = upgrade === -1 ? ours : ours.slice(0, upgrade + 1);
  return !compared.every((request, index) => request === node[index]);
}

/** Cases that we accept and Node refuses or frames differently. Refusing more than Node does is no difference. */
export async function requestDifferences(cases: Iterable<readonly string[]>): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const pieces of cases) {
    const reading = await readRequests(pieces);
    if (isDifferent(reading)) found.push(reading);
  }
  return found;
}

/** `count` mutations of the corpus, some of them cut in two. The same for the same seed. */
export function* mutatedRequests(count: number, seed: number): Generator<readonly string[]> {
  const random = seededRandom(seed);
  const seeds = [...GOOD_REQUESTS, ...GOOD_REQUESTS, ...Object.values(REQUEST_CLASSES).flat()];
  for (let index = 0; index < count; index++) {
    const once = mutateBytes(random, pick(random, seeds), PIECES);
    const text = random() < 0.33 ? mutateBytes(random, once, PIECES) : once;
    yield piecesOf(random, text);
  }
}

function ignore(): void {}
