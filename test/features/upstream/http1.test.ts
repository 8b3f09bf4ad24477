import { syncBuiltinESMExports } from 'node:module';
import type { LookupFunction } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/kit/frames/flow.ts';
import { ConnectionPool } from '../../../src/net/http1/client/connection-pool.ts';
import { socketOpener } from '../../../src/net/http1/client/open-socket.ts';
import { wireRequest } from '../../../src/net/http1/client/wire-request.ts';
import { createNetworkTransport, TRANSPORT_LIMITS } from '../../../src/net/transport/transport.ts';
import type { Transport, TransportCall } from '../../../src/net/transport/transport-call.ts';
import { UpstreamExchange } from '../../../src/net/transport/upstream-exchange.ts';
import { openRawServer, type RawAnswer, type RawServer, SELF_SIGNED } from '../../kit/fakes/raw-server.ts';
import { problemOf } from './problem-of.ts';

const { connect } = tls;

/** Lets this process trust an authority besides those that it knows; undefined: no longer. */
function trust(ca: string | undefined): void {
  const trusting = (options: ConnectionOptions) => connect({ ...options, ca });
  Object.assign(tls, { connect: ca === undefined ? connect : trusting });
  syncBuiltinESMExports();
}

/** Longer than anything here takes, however busy the machine is. */
const PATIENT = { connect: 60_000, firstByte: 60_000, idle: 60_000, total: 60_000 };
const OK = 'HTTP/1.1 200 OK\r\n';
const WHOLE = `${OK}content-length: 2\r\n\r\nok`;

/** Calls wait until the one connection may be used again. */
const ONE_CONNECTION = { ...TRANSPORT_LIMITS, connectionsPerOrigin: 1, quietMs: 1 };

let server: RawServer;
let transport: Transport;

afterEach(async () => {
  trust(undefined);
  await transport.close();
  await server.close();
});

async function serve(answer: RawAnswer, limits = TRANSPORT_LIMITS): Promise<void> {
  server = await openRawServer(answer);
  transport = createNetworkTransport(limits);
}

/** A server whose n-th answer is the n-th text; the last one stays. */
function serveTexts(...texts: readonly string[]): Promise<void> {
  return serve((socket, index) => void socket.write(texts[index] ?? texts.at(-1) ?? '', 'latin1'));
}

function ask(more: Partial<TransportCall> = {}, protocol = 'http', host = '127.0.0.1') {
  const url = `${protocol}://${host}:${server.port}/v1/chat?x=1`;
  const signal = new AbortController().signal;
  return transport.open({ url, headers: {}, body: '{}', timeouts: PATIENT, signal, ...more });
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces).toString('latin1');
}

async function answerTo(more: Partial<TransportCall> = {}): Promise<string> {
  return textOf((await ask(more)).chunks);
}

const CHUNKED = `HTTP/1.1 103 Hints\r\n\r\n${OK}transfer-encoding: chunked\r\nx-a: 1\r\nX-A: 2\r\n\r\n5;a=b\r\nhello\r\n00c\r\n, wide world\r\n0\r\nt: 1\r\n\r\n`;

describe('an answer on the wire', () => {
  it.each([
    ['line breaks before it', `\r\n\n\r\n${WHOLE}`],
    ['a line break too many after a 100', `HTTP/1.1 100 Continue\r\n\r\n\r\n${WHOLE}`],
    ['a folded line', `${OK}a: b\r\n\t c\r\ncontent-length: 2\r\n\r\nok`],
  ])('is read with %s', async (_name, text) => {
    await serveTexts(text);
    for (let count = 0; count < 2; count++) expect(await answerTo()).toBe('ok');
  });

  it('is the same wherever its bytes are cut, and its connection is used again', async () => {
    await serve(async (socket, index) => {
      socket.write(CHUNKED.slice(0, index), 'latin1');
      await sleep(2);
      socket.write(CHUNKED.slice(index), 'latin1');
    }, ONE_CONNECTION);
    for (let at = 0; at < CHUNKED.length; at++) {
      const { headers, chunks } = await ask();
      expect([headers['x-a'], await textOf(chunks)]).toEqual(['1, 2', 'hello, wide world']);
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('keeps a connection reusable if the answer ended before its beginning was read', async () => {
    const body = 'x'.repeat(100_000);
    const text = `${OK}content-length: ${body.length}\r\n\r\n${body}`;
    await serve((socket) => void socket.write(text), ONE_CONNECTION);
    for (let count = 0; count < 3; count++) {
      const { chunks } = await ask({ timeouts: { ...PATIENT, firstByte: 500 } });
      await sleep(5);
      expect(await textOf(chunks)).toBe(body);
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('is the same byte by byte', async () => {
    await serve(async (socket) => {
      for (const byte of CHUNKED) {
        socket.write(byte, 'latin1');
        await nextTurn();
      }
    });
    expect(await answerTo()).toBe('hello, wide world');
  });

  it('is a failure wherever it is cut off', async () => {
    await serve((socket, index) => void socket.end(CHUNKED.slice(0, index), 'latin1'));
    for (let at = 0; at < CHUNKED.length; at++) {
      expect(await problemOf(answerTo())).toMatchObject({
        reason: 'reset',
        message: 'connection closed before the answer ended',
      });
    }
    expect(server.sockets).toHaveLength(CHUNKED.length);
  });

  it('brings what came before a mistake, also in one read with it', async () => {
    await serveTexts(`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n, you!\r\nnonsense\r\n`);
    const { status, chunks } = await ask();
    let text = '';
    const reading = (async () => {
      for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
    })();
    expect(await problemOf(reading)).toMatchObject({ message: 'the answer is not valid HTTP' });
    expect([status, text]).toEqual([200, 'hello, you!']);
  });

  it('brings many small chunks in few pieces', async () => {
    await serveTexts(`${OK}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(2000)}0\r\n\r\n`);
    let pieces = 0;
    let bytes = 0;
    for await (const chunk of (await ask()).chunks) {
      pieces += 1;
      bytes += chunk.length;
    }
    expect(bytes).toBe(2000);
    expect(pieces).toBeLessThan(10);
  });

  it.each([
    ['two lengths', `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['differing lengths', `${OK}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
    ['a folded length', `${OK}content-length:\r\n 2\r\n\r\nok`],
    ['a bad chunk', `${OK}transfer-encoding: chunked\r\n\r\n+1\r\nx\r\n0\r\n\r\n`],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['no protocol', 'SSH-2.0-OpenSSH\r\n'],
  ])('is refused with %s, and its connection closed', async (_name, text) => {
    await serveTexts(text);
    expect(await problemOf(answerTo())).toMatchObject({
      reason: 'reset',
      message: 'the answer is not valid HTTP',
    });
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  });

  it('is refused when what comes before it has no end', async () => {
    await serve(async (socket) => {
      while (!socket.destroyed) {
        socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100));
        await nextTurn();
      }
    });
    expect((await problemOf(answerTo())).reason).toBe('too-large');
  });
});

describe('a connection', () => {
  it.each([
    ['the server closes it', `${OK}connection: close\r\ncontent-length: 2\r\n\r\nok`],
    ['the server is an old one', 'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok'],
    ['the server sent more than it was asked for', `${WHOLE}HTTP/1.1 200 OK\r\n\r\nforged`],
    ['the server keeps it too short', `${OK}keep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok`],
  ])('is not used again when %s', async (_name, text) => {
    await serveTexts(text);
    for (let count = 0; count < 2; count++) expect(await answerTo()).toBe('ok');
    expect(server.sockets).toHaveLength(2);
  });

  it.each([
    ['20 ms, where it has to be quiet for 200', 20, 200],
    ['2 ms, as it is by default', 2, TRANSPORT_LIMITS.quietMs],
  ])('is not used again at once: an unasked answer may follow in %s', async (_name, ms, quietMs) => {
    await serve(
      async (socket, index) => {
        if (index > 0) await sleep(80);
        socket.write(WHOLE);
        await sleep(ms);
        if (index === 0) socket.write(`${OK}content-length: 6\r\n\r\nforged`);
      },
      { ...TRANSPORT_LIMITS, quietMs },
    );
    expect([await answerTo(), await answerTo()]).toEqual(['ok', 'ok']);
    await expect.poll(() => server.sockets[0]?.destroyed).toBe(true);
  });

  it('is not reused after unexpected bytes', async () => {
    await serveTexts(WHOLE);
    expect(await answerTo()).toBe('ok');
    server.sockets[0]?.write(`${OK}content-length: 6\r\n\r\nforged`);
    await sleep(20);
    expect(await answerTo()).toBe('ok');
    expect(server.sockets).toHaveLength(2);
  });

  it('is not used again when the server ended it, and nothing is sent twice', async () => {
    await serveTexts(WHOLE);
    for (let count = 0; count < 3; count++) {
      expect(await answerTo()).toBe('ok');
      server.sockets.at(-1)?.end();
      await sleep(20);
    }
    expect([server.sockets.length, server.requests.length]).toEqual([3, 3]);
  });

  it('is closed when idle for the announced time', async () => {
    await serve((socket) => void socket.write(WHOLE), { ...TRANSPORT_LIMITS, keepAliveMs: 100 });
    await Promise.all([answerTo(), answerTo(), answerTo()]);
    expect(server.sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    await sleep(80);
    await answerTo();
    const used = server.requests.at(-1)?.connection ?? -1;
    await sleep(60);
    expect(server.sockets.filter(({ destroyed }) => !destroyed)).toEqual([server.sockets[used]]);
    await expect.poll(() => server.sockets[used]?.destroyed).toBe(true);
  });

  it('that carries the next call already is not closed for an answer that was too large', async () => {
    await serveTexts(`${OK}content-length: 3\r\n\r\nlot`, WHOLE);
    await transport.close();
    transport = createNetworkTransport({ ...TRANSPORT_LIMITS, bodyBytes: 2, connectionsPerOrigin: 1 });
    const [large, small] = [answerTo(), answerTo()];
    expect((await problemOf(large)).reason).toBe('too-large');
    expect(await small).toBe('ok');
    expect(server.sockets).toHaveLength(1);
  });

  it('is not used again when it was answered before the request was out', async () => {
    await serve((socket) => void socket.write(WHOLE));
    const body = new Uint8Array(64 * 1024 * 1024).fill(0x78);
    const early = await openRawServer(() => {});
    early.sockets.push = (socket) => {
      socket.write(`${OK}content-length: 2\r\n\r\nno`);
      socket.pause();
      return Array.prototype.push.call(early.sockets, socket);
    };
    const url = `http://127.0.0.1:${early.port}/`;
    expect(await answerTo({ url, body })).toBe('no');
    expect(await answerTo({ url, body })).toBe('no');
    expect(early.sockets).toHaveLength(2);
    await early.close();
  });
});

describe('a request on the wire', () => {
  it.each([
    ['ASCII', '{"a":"b"}'],
    ['text', '{"a":"wörld 🙂"}'],
    ['long ASCII', 'a'.repeat(100_000)],
    ['long text', 'ö'.repeat(100_000)],
    ['no text', ''],
    ['bytes', new Uint8Array([1, 2, 255])],
    ['many bytes', new Uint8Array(1_000_000).fill(7)],
  ])('is as it should be with %s', async (_name, body) => {
    await serveTexts(WHOLE);
    await answerTo({ body, headers: { 'x-a': 'é', 'Content-Type': 'a/b' } });
    const bytes = Buffer.from(body);
    const [request] = server.requests;
    expect(request?.head.split('\r\n')).toEqual([
      'POST /v1/chat?x=1 HTTP/1.1',
      `host: 127.0.0.1:${server.port}`,
      'connection: keep-alive',
      'accept-encoding: identity',
      'x-a: é',
      'Content-Type: a/b',
      `content-length: ${bytes.length}`,
    ]);
    expect(request?.body === bytes.toString('latin1')).toBe(true);
  });

  it.each([
    ['x', 'a\r\nb: c'],
    ['x', 'a\nb'],
    ['x', '\0'],
    ['x', '🙂'],
    ['x y', 'a'],
    ['x:', 'a'],
    ['', 'a'],
    ['Transfer-Encoding', 'chunked'],
    ['content-length', '1'],
    ['host', 'elsewhere'],
  ])('is not sent with %j: %j', async (name, value) => {
    await serveTexts(WHOLE);
    expect(await problemOf(ask({ headers: { [name]: value } }))).toMatchObject({
      reason: 'connect',
      message: 'the request cannot be sent',
    });
    expect(server.sockets).toEqual([]);
  });
});

describe('TLS', () => {
  async function serveTls(answer: RawAnswer): Promise<void> {
    server = await openRawServer(answer, { ...SELF_SIGNED, ALPNProtocols: ['http/1.1'] });
    transport = createNetworkTransport(ONE_CONNECTION);
  }

  it('refuses a self-signed certificate without naming the address', async () => {
    await serveTls((socket) => void socket.write(WHOLE));
    expect(await problemOf(ask({}, 'https'))).toMatchObject({
      reason: 'connect',
      message: 'certificate not trusted',
    });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['localhost', 'localhost'],
    ['127.0.0.1', false],
  ])('trusts a known authority at %s, names the server, and resumes sessions', async (host, name) => {
    trust(SELF_SIGNED.cert);
    await serveTls((socket, index) => {
      if (index < 2) socket.write(CHUNKED);
      else socket.end(`${OK}\r\n${'x'.repeat(1_000_000)}`);
    });
    expect(await textOf((await ask({}, 'https', host)).chunks)).toBe('hello, wide world');
    expect(await textOf((await ask({}, 'https', host)).chunks)).toBe('hello, wide world');
    expect(await textOf((await ask({}, 'https', host)).chunks)).toHaveLength(1_000_000);
    expect(await textOf((await ask({}, 'https', host)).chunks)).toHaveLength(1_000_000);
    const sockets = server.sockets as TLSSocket[];
    expect(sockets.map((socket) => [socket.servername, socket.alpnProtocol])).toEqual([
      [name, 'http/1.1'],
      [name, 'http/1.1'],
    ]);
    expect(sockets[1]?.isSessionReused()).toBe(true);
  });

  it('refuses a certificate of another name', async () => {
    trust(SELF_SIGNED.cert);
    await serveTls((socket) => void socket.write(WHOLE));
    expect((await problemOf(ask({}, 'https', '[::ffff:127.0.0.1]'))).message).toBe('certificate not trusted');
  });

  it('is slowed down by a slow reader, and loses nothing', async () => {
    trust(SELF_SIGNED.cert);
    const bytes = 16 * 1024 * 1024;
    await serveTls((socket) => void socket.end(`${OK}\r\n${'x'.repeat(bytes)}`));
    const { chunks } = await ask({}, 'https');
    await sleep(200);
    expect(server.sockets[0]?.writableLength).toBeGreaterThan(bytes / 4);
    expect(await textOf(chunks)).toHaveLength(bytes);
  });
});

describe('TLS that has deciphered more than one read', () => {
  it.each([17_000, 20_000, 32_000])('continues after a reader that took %i bytes at once', async (length) => {
    trust(SELF_SIGNED.cert);
    server = await openRawServer(async (socket) => {
      socket.write(`${OK}content-length: ${2 * length}\r\n\r\n`);
      for (let time = 0; time < 2; time++) {
        await sleep(20);
        socket.write('x'.repeat(length));
      }
    }, SELF_SIGNED);
    transport = createNetworkTransport();
    const { chunks } = await ask({ timeouts: { ...PATIENT, idle: 1000 } }, 'https');
    const flow: Flow<Uint8Array> = chunks[Symbol.asyncIterator]();
    /** In the very moment in which it comes, and only once: what else the socket has deciphered comes after that. */
    const take = async (): Promise<number> => {
      let chunk = flow.poll?.();
      await new Promise<void>((resolve) => {
        const wake = () => {
          chunk = flow.poll?.();
          resolve();
        };
        if (chunk !== undefined || flow.whenReady?.(wake) !== true) resolve();
      });
      await nextTurn();
      chunk ??= (await flow.next()).value as Uint8Array;
      return chunk.length;
    };
    let taken = 0;
    while (taken < 2 * length) taken += await take();
    expect(taken).toBe(2 * length);
  });
});

describe('a name with several addresses', () => {
  it.each(['http', 'https'])('leads to the one that answers (%s)', async (protocol) => {
    trust(SELF_SIGNED.cert);
    const certificate = protocol === 'https' ? SELF_SIGNED : undefined;
    server = await openRawServer((socket) => void socket.write(WHOLE), certificate);
    transport = createNetworkTransport();
    const lookup: LookupFunction = (_name, _options, callback) =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]);
    const guard = { lookup, checkPeer: () => {} };
    const sockets = socketOpener(new URL(`${protocol}://localhost:${server.port}`), guard);
    const readBuffer = Buffer.alloc(1024);
    const connections = new ConnectionPool(
      { sockets, headBytes: 1024, keepAliveMs: 1000, quietMs: 5, staleMs: 2, readBuffer },
      1,
    );
    const exchange = new UpstreamExchange({ signal: new AbortController().signal, timeouts: PATIENT }, 1024);
    const parts = { method: 'POST', host: 'localhost', path: '/', headers: {}, body: '' } as const;
    connections.send(wireRequest(parts), exchange);
    expect((await exchange.head()).status).toBe(200);
    expect(await textOf(exchange)).toBe('ok');
    connections.destroy();
  });
});
