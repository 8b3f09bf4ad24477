import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InboundRequest } from '../../src/http1/server/inbound-request.ts';
import { Listener } from '../../src/http1/server/listener.ts';
import type { Outgoing } from '../../src/http1/server/outgoing.ts';

/** What two readers of the same bytes have to agree on: the requests that came whole. */
interface Reading {
  readonly requests: string[];
}

/** Reads the requests of connections one after another, each to its end. */
interface Reader {
  read(bytes: string): Promise<Reading>;
  close(): Promise<unknown>;
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

function nameOf({ method = '', url = '' }: { method?: string; url?: string }, body: Buffer): string {
  return `${method} ${url} ${body.toString('latin1')}`;
}

/** Sends bytes, ends its side, and waits until the server has closed the connection. */
async function send(port: number, bytes: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.resume();
  socket.once('end', () => socket.destroy());
  socket.end(bytes, 'latin1');
  await new Promise((resolve) => socket.once('close', resolve));
}

/** Node's own parser, as strict as it is by default. */
async function openNode(): Promise<Reader> {
  /** Of the connection that is read. */
  let seen: { request: IncomingMessage; pieces: Buffer[] }[] = [];
  let closed: Promise<unknown> = Promise.resolve();
  const strict = { insecureHTTPParser: false, requireHostHeader: false };
  const server: Server = createServer(strict, (request, response) => {
    const pieces: Buffer[] = [];
    seen.push({ request, pieces });
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('end', () => response.end());
  });
  server.on('connection', (socket: Socket) => {
    closed = new Promise((resolve) => socket.once('close', resolve));
  });
  server.on('clientError', (_error, socket) => {
    // What the parser has passed on and nobody has taken yet.
    for (const { request } of seen) while (request.read() !== null);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    read: async (bytes) => {
      seen = [];
      await send(port, bytes);
      await closed;
      const whole = seen.filter(({ request }) => request.complete);
      return { requests: whole.map(({ request, pieces }) => nameOf(request, Buffer.concat(pieces))) };
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** Ours. */
async function openOurs(): Promise<Reader> {
  let requests: string[] = [];
  const limits = {
    headersMs: 5_000,
    requestMs: 5_000,
    idleMs: 5_000,
    lingerMs: 100,
    discardMs: 100,
    maxHeadBytes: 16_384,
    maxPipelined: 16,
  };
  const listener = new Listener(
    limits,
    { checkMs: 1_000, listeningSockets: 1 },
    {
      isFull: () => false,
      turnAway: () => undefined,
      accept: (request: InboundRequest, answer: Outgoing) => {
        const pieces: Buffer[] = [];
        const isRefused = request.framing.problem !== undefined;
        const end = () => {
          if (!isRefused) requests.push(nameOf(request, Buffer.concat(pieces)));
          answer.write(ANSWER, 'latin1');
          if (isRefused) answer.endLingering();
          else answer.end();
        };
        if (isRefused) end();
        else request.read({ piece: (bytes) => pieces.push(bytes) > 0, end, cut: () => answer.destroy() });
      },
      refuse: (connection) => connection.endWith('HTTP/1.1 400 Bad Request\r\n\r\n'),
      failed: (error) => {
        throw error;
      },
    },
  );
  const { port } = await listener.listen('127.0.0.1', 0);
  return {
    read: async (bytes) => {
      requests = [];
      await send(port, bytes);
      return { requests };
    },
    close: () => {
      listener.destroyConnections();
      return listener.close();
    },
  };
}

let node: Reader;
let ours: Reader;

beforeAll(async () => {
  [node, ours] = await Promise.all([openNode(), openOurs()]);
});

afterAll(() => Promise.all([node.close(), ours.close()]));

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
const GOOD: readonly string[] = [
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

const BAD: readonly string[] = [
  ...LENGTHS.map((length) => post(`Content-Length: ${length}\r\n`, `hello${GET}`)),
  ...CODINGS.map((coding) => post(`Transfer-Encoding: ${coding}\r\n`, `5\r\nhello\r\n0\r\n\r\n${GET}`)),
  ...CODINGS.map((coding) => post(`Transfer-Encoding:${coding}\r\n`, `0\r\n\r\n${GET}`)),
  ...EXTENSIONS.map((extension) => chunked(`5${extension}\r\nhello\r\n0\r\n\r\n${GET}`)),
  ...EXTENSIONS.map((extension) => chunked(`5\r\nhello\r\n0${extension}\r\n\r\n${GET}`)),
  ...TRAILERS.map((trailer) => chunked(`5\r\nhello\r\n0\r\n${trailer}\r\n\r\n${GET}`)),
  ...OPTIONS.map((option) => get(`Connection: ${option}\r\n`, GET)),
  ...OPTIONS.map((option) => get(`Proxy-Connection: ${option}\r\n`, GET)),
  ...OPTIONS.map((option) => post(`Connection: ${option}\r\nContent-Length: 5\r\n`, `hello${GET}`)),
  ...OPTIONS.map((option) =>
    chunked(`0\r\n\r\n${GET}`).replace('Host: a', `Host: a\r\nConnection: ${option}`),
  ),
  ...['a b', 'a\tb', 'a\x01', 'a\x7f', ' a', 'a\r\nHost: b'].map((host) =>
    GET.replace('Host: a', `Host: ${host}`),
  ),
  'GET /old HTTP/1.0\r\nConnection: close\r\n\r\nGET /old HTTP/1.0\r\n\r\n',
  `GET /old HTTP/1.0\r\n\r\n${GET}`,
  `GET /old HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello${GET}`,
  `${GET}GARBAGE\r\n\r\n`,
  `${post('Content-Length: 5\r\n', 'hello')}GARBAGE\r\n\r\n${GET}`,
];

/** What is put in, or in the place of something else, where it may hurt. */
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

/** The same numbers for the same seed, below `limit`. */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
}

function mutated(text: string, below: (limit: number) => number): string {
  const at = below(text.length + 1);
  const piece = PIECES[below(PIECES.length)] as string;
  switch (below(4)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + below(3));
    case 1:
      return text.slice(0, at) + piece + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(at, at + 1 + below(20)) + text.slice(at);
    default:
      return text.slice(0, at) + piece + text.slice(at);
  }
}

function mutations(count: number): string[] {
  const below = numbersFrom(20);
  const seeds = [...GOOD, ...GOOD, ...BAD];
  return Array.from({ length: count }, () => {
    const once = mutated(seeds[below(seeds.length)] as string, below);
    return below(3) === 0 ? mutated(once, below) : once;
  });
}

it('reads good requests as Node does', async () => {
  for (const bytes of GOOD) {
    const reading = await ours.read(bytes);
    expect([bytes, reading]).toEqual([bytes, await node.read(bytes)]);
    expect(reading.requests.length).toBeGreaterThan(0);
  }
});

it.each([
  ['chosen by hand', BAD],
  ['made by chance', mutations(600)],
])('takes no request that Node refuses or reads otherwise: %s', async (_, all) => {
  const differing: { bytes: string; ours: string[]; node: string[] }[] = [];
  for (const bytes of all) {
    const [mine, theirs] = await Promise.all([ours.read(bytes), node.read(bytes)]);
    const isSame = mine.requests.every((request, index) => request === theirs.requests[index]);
    if (!isSame) differing.push({ bytes, ours: mine.requests, node: theirs.requests });
  }
  expect(differing).toEqual([]);
});
